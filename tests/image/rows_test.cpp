#include "image/rows.hpp"

#include <array>
#include <limits>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

TEST(Rows, SizesDoNotOverflowWhenMultiplied) {
  constexpr int most = std::numeric_limits<int>::max();
  EXPECT_EQ((ImageSize{most, most}.pixels()), 0x3fffffff00000001U);
}

TEST(Rows, PitchIsARowRoundedUpToACacheLine) {
  EXPECT_EQ(row_pitch(1, {1, 8}), 64U);
  EXPECT_EQ(row_pitch(64, {1, 8}), 64U);
  EXPECT_EQ(row_pitch(65, {1, 8}), 128U);
  EXPECT_EQ(row_pitch(16, {4, 8}), 64U);
  EXPECT_EQ(row_pitch(11, {3, 16}), 128U);
  EXPECT_EQ(row_pitch(1 << 30, {4, 16}), std::size_t{1} << 33U);
}

TEST(Rows, RangesContainEachOther) {
  constexpr RowRange rows{3, 9};
  EXPECT_EQ(rows.count(), 6);
  EXPECT_TRUE(rows.contains({3, 9}));
  EXPECT_TRUE(rows.contains({4, 5}));
  EXPECT_FALSE(rows.contains({2, 5}));
  EXPECT_FALSE(rows.contains({4, 10}));
}

TEST(Rows, PartsKeepTheirRowNumbers) {
  std::array<std::uint8_t, 320> bytes{};
  const MutableRows rows{bytes.data(), 64, {10, 15}, 64, {1, 8}};
  const MutableRows part = rows.part({12, 14});
  EXPECT_EQ(part.row(12), rows.row(12));
  EXPECT_EQ(part.row(13), bytes.data() + 192);
  EXPECT_EQ(part.rows, (RowRange{12, 14}));
  const ConstRows read_only = part;
  EXPECT_EQ(read_only.row(12), bytes.data() + 128);
  EXPECT_EQ(read_only.width, 64);
}

}  // namespace
}  // namespace gpufilter
