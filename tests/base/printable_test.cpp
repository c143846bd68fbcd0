#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

TEST(Printable, StaysOnOneLine) {
  EXPECT_EQ(printable("plain name.png"), "plain name.png");
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f\r"), "a\\nb\\tc\\x1b[2J\\x7f\\x0d");
  EXPECT_EQ(printable(std::string("nul\0", 4)), "nul\\x00");
}

TEST(Printable, LeavesLettersOfAllKindsAlone) {
  for (const char* text : {"ü", "日本語.png", "😀", "a\\b", "é\xcc\x81"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(printable("ü \xff"), "ü \\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xed\xa0\x80z"), "\\xed\\xa0\\x80z");
}

// U+009B begins a control sequence like ESC [; U+202E reverses the direction of the text after it.
TEST(Printable, EscapesControlsBeyondAscii) {
  EXPECT_EQ(printable("a\xc2\x9b"
                      "2J"),
            "a\\u009b2J");
  EXPECT_EQ(printable("a\xe2\x80\xaegnp.exe"), "a\\u202egnp.exe");
  EXPECT_EQ(printable("a\xe2\x80\xa8z"), "a\\u2028z");
  EXPECT_EQ(printable("a\xc2\xa0z"), "a\xc2\xa0z") << "a space that does not break";
}

TEST(Printable, ChangesNothingTheSecondTime) {
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

}  // namespace
}  // namespace gpufilter
