#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "image/placement.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

// A picture of letters, one string for each row.
using Letters = std::vector<std::string>;

Letters turned(const Letters& source, const Turn& turn) {
  const int width = static_cast<int>(source[0].size());
  const int height = static_cast<int>(source.size());
  const ImageSize size = turn.size_of({width, height});
  Letters result(static_cast<std::size_t>(size.height));
  for (const auto [x, y] : test::each_pixel(size)) {
    const int u = turn.swaps ? y : x;
    const int v = turn.swaps ? x : y;
    result[static_cast<std::size_t>(y)] +=
        source[static_cast<std::size_t>(turn.mirrors_y ? height - 1 - v : v)]
              [static_cast<std::size_t>(turn.mirrors_x ? width - 1 - u : u)];
  }
  return result;
}

const Letters picture{"abc", "def"};

TEST(Turn, NamesMeanWhatTheySay) {
  EXPECT_EQ(turned(picture, left_right), (Letters{"cba", "fed"}));
  EXPECT_EQ(turned(picture, upside_down), (Letters{"def", "abc"}));
  EXPECT_EQ(turned(picture, half_a_turn), (Letters{"fed", "cba"}));
  EXPECT_EQ(turned(picture, quarter_clockwise), (Letters{"da", "eb", "fc"}));
  EXPECT_EQ(turned(picture, quarter_counterclockwise), (Letters{"cf", "be", "ad"}));
}

// TIFF 6.0, section 8: what row 0 and column 0 of the file are in the picture.
TEST(Turn, ShowsEveryOrientationUpright) {
  const std::array<Letters, 8> files{picture,
                                     {"cba", "fed"},
                                     {"fed", "cba"},
                                     {"def", "abc"},
                                     {"ad", "be", "cf"},
                                     {"cf", "be", "ad"},
                                     {"fc", "eb", "da"},
                                     {"da", "eb", "fc"}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Letters& file = files.at(static_cast<std::size_t>(orientation - 1));
    EXPECT_EQ(turned(file, turn_for_orientation(orientation)), picture) << orientation;
  }
  EXPECT_TRUE(turn_for_orientation(1).changes_nothing());
  EXPECT_TRUE(turn_for_orientation(0).changes_nothing());
  EXPECT_TRUE(turn_for_orientation(9).changes_nothing());
}

TEST(Turn, TwoAreOne) {
  for (int first = 1; first <= 8; ++first) {
    for (int second = 1; second <= 8; ++second) {
      const Turn a = turn_for_orientation(first);
      const Turn b = turn_for_orientation(second);
      EXPECT_EQ(turned(picture, a.then(b)), turned(turned(picture, a), b))
          << first << ", " << second;
    }
  }
}

TEST(Turn, OnlyMirroringLeftToRightStaysInRows) {
  for (int orientation = 1; orientation <= 8; ++orientation)
    EXPECT_EQ(turn_for_orientation(orientation).stays_in_rows(), orientation <= 2) << orientation;
}

}  // namespace
}  // namespace gpufilter
