#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

TEST(Printable, StaysOnOneLine) {
  EXPECT_EQ(printable("plain name.png"), "plain name.png");
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f\r"), "a\\nb\\tc\\x1b[2J\\x7f\\x0d");
  EXPECT_EQ(printable(std::string("nul\0", 4)), "nul\\x00");
}

TEST(Printable, LeavesOtherBytesAlone) {
  EXPECT_EQ(printable("ü \xff"), "ü \xff");
}

}  // namespace
}  // namespace gpufilter
