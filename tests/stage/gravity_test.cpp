#include <array>
#include <utility>

#include <gtest/gtest.h>

#include "stage/options/shared_parameters.hpp"

namespace gpufilter {
namespace {

using Placed = std::pair<Gravity, PixelPosition>;

TEST(Gravity, PlacesARectangleInALargerOne) {
  constexpr std::array cases{Placed{Gravity::northwest, {0, 0}}, Placed{Gravity::north, {2, 0}},
                             Placed{Gravity::northeast, {5, 0}}, Placed{Gravity::west, {0, 1}},
                             Placed{Gravity::center, {2, 1}},    Placed{Gravity::east, {5, 1}},
                             Placed{Gravity::southwest, {0, 2}}, Placed{Gravity::south, {2, 2}},
                             Placed{Gravity::southeast, {5, 2}}};
  for (const auto& [gravity, corner] : cases)
    EXPECT_EQ(placed({5, 8}, {10, 10}, gravity), corner) << static_cast<int>(gravity);
}

TEST(Gravity, OffsetsGoInwards) {
  EXPECT_EQ(placed({5, 8}, {10, 10}, Gravity::northwest, {1, 2}), (PixelPosition{1, 2}));
  EXPECT_EQ(placed({5, 8}, {10, 10}, Gravity::southeast, {1, 2}), (PixelPosition{4, 0}));
  EXPECT_EQ(placed({5, 8}, {10, 10}, Gravity::center, {1, 1}), (PixelPosition{3, 2}));
  EXPECT_EQ(placed({5, 8}, {10, 10}, Gravity::north, {1, 1}), (PixelPosition{3, 1}));
}

TEST(Gravity, ALargerRectangleLiesPartlyOutside) {
  EXPECT_EQ(placed({10, 11}, {5, 8}, Gravity::northwest), (PixelPosition{0, 0}));
  EXPECT_EQ(placed({10, 11}, {5, 8}, Gravity::southeast), (PixelPosition{-5, -3}));
  EXPECT_EQ(placed({10, 11}, {5, 8}, Gravity::center), (PixelPosition{-3, -2}));
}

}  // namespace
}  // namespace gpufilter
