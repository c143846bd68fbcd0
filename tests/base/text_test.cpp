#include <cstdio>

#include <sys/ioctl.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/terminal.hpp"
#include "base/words.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {
namespace {

using Words = std::vector<std::string>;

TEST(Enumerated, IsOnePhrase) {
  EXPECT_EQ(enumerated({}, "or"), "");
  EXPECT_EQ(enumerated({"8"}, "or"), "8");
  EXPECT_EQ(enumerated({"8", "16"}, "or"), "8 or 16");
  EXPECT_EQ(enumerated({"8", "16", "32"}, "and"), "8, 16 and 32");
}

TEST(WordsLike, AreThoseThatFewLettersMakeAndTwoLettersSwappedAreOneSlip) {
  const Words borders{"replicate", "mirror", "wrap", "constant"};
  EXPECT_EQ(words_like("miror", borders), Words{"mirror"});
  EXPECT_EQ(words_like("mirrror", borders), Words{"mirror"});
  EXPECT_EQ(words_like("mirrur", borders), Words{"mirror"});
  EXPECT_EQ(words_like("warp", borders), Words{"wrap"});
  EXPECT_EQ(words_like("const", borders), Words{"constant"});
  EXPECT_EQ(words_like("Mirror", borders), Words{"mirror"});
  EXPECT_EQ(words_like("REPLICATE", borders), Words{"replicate"});
  EXPECT_EQ(words_like("cup", {"auto", "cpu", "gpu"}), Words{"cpu"});
  EXPECT_EQ(words_like("devcies", {"compare", "devices"}), Words{"devices"});
  EXPECT_EQ(words_like("ab", {"ba"}), Words{"ba"});
  EXPECT_EQ(words_like("abc", {"cab", "cba"}), Words{});
}

// "sharpen" is not a typo of "shard", although five of its seven letters are the same.
TEST(WordsLike, AreTyposAndNotOtherWords) {
  const Words options{"blur",  "color",     "levels", "tonemap", "device", "jobs",
                      "shard", "recursive", "resume", "quality", "tile",   "on-exists"};
  for (const char* word : {"sharpen", "resize", "denoise", "logs", "size", "crop"})
    EXPECT_EQ(words_like(word, options), Words{}) << word;
  EXPECT_EQ(words_like("recurse", options), Words{"recursive"});
  EXPECT_EQ(words_like("recusrive", options), Words{"recursive"});
  EXPECT_EQ(words_like("recusve", options), Words{"recursive"});
  EXPECT_EQ(words_like("qualty", options), Words{"quality"});
  EXPECT_EQ(words_like("jbos", options), Words{"jobs"});
  EXPECT_EQ(words_like("shards", options), Words{"shard"});
  EXPECT_EQ(words_like("onexists", options), Words{"on-exists"});
  EXPECT_EQ(words_like("tone-map", options), Words{"tonemap"});
  EXPECT_EQ(words_like("tone", options), Words{"tonemap"});
}

TEST(WordsLike, AreEmptyIfNothingIsClose) {
  const Words borders{"replicate", "mirror", "wrap", "constant"};
  EXPECT_EQ(words_like("black", borders), Words{});
  EXPECT_EQ(words_like("", borders), Words{});
  EXPECT_EQ(words_like("mirror", {}), Words{});
}

TEST(NotAmong, NamesTheWordFirst) {
  EXPECT_EQ(not_among("ovewrite", {"fail", "skip", "overwrite"}),
            "'ovewrite' is not one of fail, skip, overwrite; did you mean overwrite?");
  EXPECT_EQ(not_among("foo", {"fail", "skip"}), "'foo' is not one of fail, skip");
  EXPECT_EQ(not_among("a\nb", {"x"}), "'a\\nb' is not one of x");
  EXPECT_EQ(not_among("440", {"444", "420"}), "'440' is not one of 444, 420");
}

TEST(WordsLike, AreAtMostThreeBestFirst) {
  EXPECT_EQ(words_like("abcdefg", {"abxxefg", "abcdefx", "abcdefg", "zbcdefg", "abcdeg"}),
            (Words{"abcdefg", "abcdefx", "zbcdefg"}));
}

TEST(Utf8Length, CountsTheBytesOfOneCharacterAndIsNothingWhereTheBytesAreNotUtf8) {
  const std::array<std::pair<std::string, std::size_t>, 5> characters{
      {{"a", 1}, {"\xc3\xbc", 2}, {"\xe2\x82\xac", 3}, {"\xf0\x9f\x98\x80", 4}, {"\x1b", 1}}};
  for (const auto& [character, length] : characters) {
    EXPECT_EQ(utf8_length(character), length);
    EXPECT_EQ(utf8_length(character + "\xff"), length) << "what follows does not matter";
  }
  EXPECT_EQ(utf8_length({"\0", 1}), 1U);
  for (const char* bytes : {"", "\x80", "\xff", "\xc3", "\xc3(", "\xc0\xaf", "\xe0\x80\x80",
                            "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_EQ(utf8_length(bytes), 0U) << ::testing::PrintToString(bytes);
  }
}

TEST(Printable, StaysOnOneLineAndLeavesLettersOfAllKindsAloneAndEscapesWhatIsNotUtf8) {
  EXPECT_EQ(printable("plain name.png"), "plain name.png");
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f\r"), "a\\nb\\tc\\x1b[2J\\x7f\\x0d");
  EXPECT_EQ(printable(std::string("nul\0", 4)), "nul\\x00");
  for (const char* text : {"ü", "日本語.png", "😀", "a\\b", "é\xcc\x81"})
    EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("ü \xff"), "ü \\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xed\xa0\x80z"), "\\xed\\xa0\\x80z");
}

// U+009B begins a control sequence like ESC [; U+202E reverses the direction of the text after it.
TEST(Printable, EscapesControlsBeyondAsciiAndChangesNothingTheSecondTime) {
  EXPECT_EQ(printable("a\xc2\x9b"
                      "2J"),
            "a\\u009b2J");
  EXPECT_EQ(printable("a\xe2\x80\xaegnp.exe"), "a\\u202egnp.exe");
  EXPECT_EQ(printable("a\xe2\x80\xa8z"), "a\\u2028z");
  EXPECT_EQ(printable("a\xc2\xa0z"), "a\xc2\xa0z") << "a space that does not break";
  const std::string once = printable("a\n\xff\x1b\xe2\x80\xae\\");
  EXPECT_EQ(printable(once), once);
}

TEST(PrintableEnd, KeepsTheEndOfLongNames) {
  EXPECT_EQ(printable_end("photo.png", 9), "photo.png");
  EXPECT_EQ(printable_end("a photo.png", 10), "...oto.png");
  EXPECT_EQ(printable_end("üüüüü.png", 9), "üüüüü.png") << "nine characters in fourteen bytes";
  EXPECT_EQ(printable_end("üüüüüü.png", 9), "...üü.png");
  EXPECT_EQ(printable_end("a\nb", 4), "a\\nb");
  EXPECT_EQ(printable_end("", 4), "");
}

TEST(ShellWord, QuotesOnlyWhatNeedsItAndCanBeShownWhateverItHoldsAndIsReadBackByBash) {
  EXPECT_EQ(shell_word("a/b-c_1.png"), "a/b-c_1.png");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$HOME;\\"), "'$HOME;\\'");
  EXPECT_EQ(shell_word("a\nb"), "$'a\\nb'");
  EXPECT_EQ(shell_word("it's\t\\\xff\x1b"), "$'it\\'s\\t\\\\\\xff\\x1b'");
  for (const std::string word : {"a b", "it's", "a\nb", "\\n'\x01\xe9z\xff", "\xe2\x80\xae!"}) {
    const std::string script = "bash <<'END'\nprintf %s " + shell_word(word) + "\nEND\n";
    FILE* pipe = ::popen(script.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string read;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
      read += static_cast<char>(c);
    ::pclose(pipe);
    EXPECT_EQ(read, word);
  }
}

const std::string cat = "\xe7\x8c\xab";        // two columns
const std::string umlaut = "\xc3\xa4";         // one
const std::string combining = "a\xcc\x88";     // one, of two characters
const std::string smile = "\xf0\x9f\x98\x80";  // two
const std::string control = "\xc2\x9b";        // U+009B, which begins a control sequence

TEST(Terminal, KnowsTheWidthOfCharactersAndCutsTheEndAndCutsTheBeginning) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("a b"), 3U);
  EXPECT_EQ(display_width(cat + umlaut + combining + smile), 6U);
  EXPECT_EQ(display_width("\xff\xfe"), 2U);
  EXPECT_EQ(display_width("a\xe7\x8c"), 3U);
  EXPECT_EQ(fitted("abcdef", 6), "abcdef");
  EXPECT_EQ(fitted("abcdef", 5), "ab...");
  EXPECT_EQ(fitted("abcdef", 2), "..");
  EXPECT_EQ(fitted("abcdef", 0), "");
  EXPECT_EQ(fitted(cat + cat + cat, 6), cat + cat + cat);
  EXPECT_EQ(fitted(cat + cat + cat, 5), cat + "...");
  // Half of a wide character cannot be shown.
  EXPECT_EQ(fitted(cat + cat + cat, 4), "...");
  EXPECT_EQ(fitted(combining + combining + "bcd", 4), combining + "...");
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

class Log : public ::testing::Test {
 protected:
  void TearDown() override {
    log::set_level(before_);
    log::set_color(log::Color::automatic);
  }

  // What `say` writes to standard error.
  static std::string heard(const std::function<void()>& say) {
    ::testing::internal::CaptureStderr();
    say();
    return ::testing::internal::GetCapturedStderr();
  }

  static std::string everything() {
    return heard([] {
      log::debug("d");
      log::info("i");
      log::warn("w");
      log::error("e");
    });
  }

  const log::Level before_ = log::level();
};

TEST_F(Log, DropsMessagesBelowItsLevel) {
  const std::string warning = "gpufilter: warning: w\n";
  const std::array<std::pair<log::Level, std::string>, 5> cases{
      {{log::Level::debug, "gpufilter: d\ngpufilter: i\n" + warning + "gpufilter: e\n"},
       {log::Level::info, "gpufilter: i\n" + warning + "gpufilter: e\n"},
       {log::Level::warn, warning + "gpufilter: e\n"},
       {log::Level::error, "gpufilter: e\n"},
       {log::Level::off, ""}}};
  for (const auto& [level, expected] : cases) {
    log::set_level(level);
    EXPECT_EQ(log::level(), level);
    EXPECT_EQ(everything(), expected);
  }
}

TEST_F(Log, BeginsWithWarnings) {
  EXPECT_EQ(before_, log::Level::warn);
}

TEST_F(Log, LinesGoAboveTheStatus) {
  log::set_level(log::Level::warn);
  EXPECT_EQ(heard([] {
              log::show_status("");
              log::show_status("50 %");
              log::info("i");
              log::warn("w");
              log::show_status("60 %");
              log::show_status("");
              log::warn("w");
            }),
            "\r\033[J50 %\r"
            "\r\033[Jgpufilter: warning: w\n\r\033[J50 %\r"
            "\r\033[J60 %\r\r\033[Jgpufilter: warning: w\n");
}

TEST_F(Log, TheStatusFitsIntoALine) {
  EXPECT_EQ(heard([] {
              log::show_status(std::string(80, 'x'));
              log::show_status("");
            }),
            "\r\033[J" + std::string(76, 'x') + "...\r\r\033[J");
}

TEST_F(Log, NeverHidesWhyTheProgramEnds) {
  log::set_level(log::Level::off);
  EXPECT_EQ(heard([] { log::failure("f"); }), "gpufilter: f\n");
}

TEST_F(Log, ShowsFallbacksAtTheErrorLevel) {
  log::set_level(log::Level::error);
  EXPECT_EQ(heard([] { log::warn_of_fallback("f"); }), "gpufilter: warning: f\n");
}

TEST_F(Log, ColoursLabelsAlone) {
  log::set_level(log::Level::debug);
  log::set_color(log::Color::always);
  EXPECT_EQ(everything(),
            "gpufilter: d\ngpufilter: i\n"
            "gpufilter: \033[1;35mwarning:\033[0m w\n"
            "\033[1;31mgpufilter:\033[0m e\n");
  log::set_color(log::Color::automatic);
  EXPECT_EQ(heard([] { log::error("e"); }), "gpufilter: e\n") << "this is not a terminal";
}

TEST_F(Log, TakesTextAsItIs) {
  log::set_level(log::Level::warn);
  EXPECT_EQ(heard([] { log::warn("{} {0:x} %s.png"); }), "gpufilter: warning: {} {0:x} %s.png\n");
}

TEST_F(Log, ShowsControlCharactersEscaped) {
  EXPECT_EQ(heard([] { log::error("a\nb\033[2J\xff ü"); }), "gpufilter: a\\nb\\x1b[2J\\xff ü\n");
  EXPECT_EQ(heard([] {
              log::show_status("a\nb");
              log::show_status("");
            }),
            "\r\033[Ja\\nb\r\r\033[J");
}

}  // namespace
}  // namespace gpufilter::test
