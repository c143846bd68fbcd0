#include "image/color.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace gpufilter {
namespace {

TEST(Color, HasThreeOrSixDigits) {
  EXPECT_EQ(parse_color("#000000"), (Color{0, 0, 0}));
  EXPECT_EQ(parse_color("#0a1B2c"), (Color{10, 27, 44}));
  EXPECT_EQ(parse_color("#ffffff"), (Color{255, 255, 255}));
  EXPECT_EQ(parse_color("#1aF"), (Color{0x11, 0xaa, 0xff}));
}

TEST(Color, HasANameInAnyCase) {
  EXPECT_EQ(parse_color("white"), (Color{255, 255, 255}));
  EXPECT_EQ(parse_color("White"), (Color{255, 255, 255}));
  EXPECT_EQ(parse_color("BLACK"), (Color{0, 0, 0}));
  EXPECT_EQ(parse_color("teal"), (Color{0, 128, 128}));
  EXPECT_EQ(parse_color("gray"), parse_color("grey"));
}

TEST(Color, IsNothingElse) {
  for (const char* text :
       {"", "#", "#1", "#12", "#1234", "#12345", "#1234567", "123456", "#12345g", "#-12345",
        "#+12345", "# 12345", "##12345", "#0x123", "pink", "white "}) {
    EXPECT_THROW(static_cast<void>(parse_color(text)), UsageError) << text;
  }
}

}  // namespace
}  // namespace gpufilter
