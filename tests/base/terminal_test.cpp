#include "base/terminal.hpp"

#include <array>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/files.hpp"

namespace gpufilter {
namespace {

const std::string cat = "\xe7\x8c\xab";        // two columns
const std::string umlaut = "\xc3\xa4";         // one
const std::string combining = "a\xcc\x88";     // one, of two characters
const std::string smile = "\xf0\x9f\x98\x80";  // two
const std::string control = "\xc2\x9b";        // U+009B, which begins a control sequence

TEST(Terminal, KnowsTheWidthOfCharacters) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("a b"), 3U);
  EXPECT_EQ(display_width(cat + umlaut + combining + smile), 6U);
  EXPECT_EQ(display_width("\xff\xfe"), 2U);
  EXPECT_EQ(display_width("a\xe7\x8c"), 3U);
}

TEST(Terminal, CutsTheEnd) {
  EXPECT_EQ(fitted("abcdef", 6), "abcdef");
  EXPECT_EQ(fitted("abcdef", 5), "ab...");
  EXPECT_EQ(fitted("abcdef", 2), "..");
  EXPECT_EQ(fitted("abcdef", 0), "");
  EXPECT_EQ(fitted(cat + cat + cat, 6), cat + cat + cat);
  EXPECT_EQ(fitted(cat + cat + cat, 5), cat + "...");
  // Half of a wide character cannot be shown.
  EXPECT_EQ(fitted(cat + cat + cat, 4), "...");
  EXPECT_EQ(fitted(combining + combining + "bcd", 4), combining + "...");
}

TEST(Terminal, CutsTheBeginning) {
  EXPECT_EQ(fitted_at_end("abcdef", 6), "abcdef");
  EXPECT_EQ(fitted_at_end("abcdef", 5), "...ef");
  EXPECT_EQ(fitted_at_end(cat + cat + cat, 5), "..." + cat);
  EXPECT_EQ(fitted_at_end(cat + cat + cat, 4), "...");
  EXPECT_EQ(fitted_at_end("xyz" + combining + "b", 4), "...b");
  EXPECT_EQ(fitted_at_end("xyz" + combining + "b", 5), "xyz" + combining + "b");
}

TEST(Terminal, ShowsQuestionMarksForWhatItCannotShow) {
  EXPECT_EQ(fitted("a\xff" + control + "b", 10), "a??b");
  EXPECT_EQ(fitted(std::string("a\0b", 3), 10), "a?b");
}

TEST(Terminal, FollowsTheWidth) {
  const FileDescriptor terminal(::posix_openpt(O_RDWR | O_NOCTTY));
  if (terminal.get() < 0) GTEST_SKIP() << "skipped: no pseudo-terminal here";
  EXPECT_EQ(terminal_columns(terminal.get()), 80U);
  struct winsize size {};
  for (const auto columns : std::array<unsigned short, 3>{40, 1, 200}) {
    size.ws_col = columns;
    ASSERT_EQ(::ioctl(terminal.get(), TIOCSWINSZ, &size), 0);
    EXPECT_EQ(terminal_columns(terminal.get()), columns);
  }
  const FileDescriptor file = open_file("/dev/null", O_RDONLY);
  EXPECT_EQ(terminal_columns(file.get()), 80U);
  EXPECT_FALSE(is_terminal(file.get()));
}

TEST(Terminal, FoldsLinesAtBlanks) {
  EXPECT_EQ(folded("one two three", 20), "one two three");
  EXPECT_EQ(folded("one two three", 7), "one two\n  three");
  EXPECT_EQ(folded("one two three\n", 8), "one two\n  three\n");
  EXPECT_EQ(folded("    a table    of cells\nshort\n", 14), "    a table\n      of cells\nshort\n");
  EXPECT_EQ(folded("averylongword and more", 6), "averylongword\n  and\n  more");
  EXPECT_EQ(folded(cat + cat + " " + cat + cat, 5), cat + cat + "\n  " + cat + cat);
  EXPECT_EQ(folded("trailing   ", 8), "trailing   ");
  EXPECT_EQ(folded("", 5), "");
}

}  // namespace
}  // namespace gpufilter
