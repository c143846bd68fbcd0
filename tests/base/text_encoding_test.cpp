#include <gtest/gtest.h>

#include "base/printable.hpp"

namespace gpufilter {
namespace {

TEST(IsUtf8, KnowsWellFormedText) {
  for (const char* text : {"", "plain", "\xC3\xA4", "\xE2\x82\xAC", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x9F\x93\xB7", "\xF4\x8F\xBF\xBF", "\xC2\x80"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(IsUtf8, RefusesEverythingElse) {
  for (const char* text :
       {"\xE4", "caf\xE9 au lait", "\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82",
        "\xF0\x9F\x93", "\xE2\x28\xA1"}) {
    EXPECT_FALSE(is_utf8(text)) << testing::PrintToString(std::string(text));
  }
}

TEST(Utf8FromLatin1, KeepsEveryCharacter) {
  std::string latin1;
  for (int c = 1; c < 256; ++c)
    latin1 += static_cast<char>(c);
  const std::string utf8 = utf8_from_latin1(latin1);
  EXPECT_TRUE(is_utf8(utf8));
  EXPECT_EQ(utf8.size(), 127U + 2U * 128U);
  EXPECT_EQ(utf8_from_latin1("caf\xE9 \xFF\x80"), "caf\xC3\xA9 \xC3\xBF\xC2\x80");
}

}  // namespace
}  // namespace gpufilter
