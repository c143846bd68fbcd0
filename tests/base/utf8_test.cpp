#include <array>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/printable.hpp"

namespace gpufilter {
namespace {

TEST(Utf8Length, CountsTheBytesOfOneCharacter) {
  const std::array<std::pair<std::string, std::size_t>, 5> characters{
      {{"a", 1}, {"\xc3\xbc", 2}, {"\xe2\x82\xac", 3}, {"\xf0\x9f\x98\x80", 4}, {"\x1b", 1}}};
  for (const auto& [character, length] : characters) {
    EXPECT_EQ(utf8_length(character), length);
    EXPECT_EQ(utf8_length(character + "\xff"), length) << "what follows does not matter";
  }
  EXPECT_EQ(utf8_length({"\0", 1}), 1U);
}

TEST(Utf8Length, IsNothingWhereTheBytesAreNotUtf8) {
  for (const char* bytes : {"", "\x80", "\xff", "\xc3", "\xc3(", "\xc0\xaf", "\xe0\x80\x80",
                            "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_EQ(utf8_length(bytes), 0U) << ::testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace gpufilter
