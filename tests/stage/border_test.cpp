#include "stage/border.hpp"

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

// The position after a walk of |i| steps from 0, with the rule applied at each step over an edge.
int walked(Border border, int i, int n) {
  int position = 0;
  int direction = i < 0 ? -1 : 1;
  for (int step = 0; step != i; step += i < 0 ? -1 : 1) {
    int next = position + direction;
    if (next < 0 || next >= n) {
      if (border == Border::constant) return -1;
      if (border == Border::replicate || n == 1) {
        next = position;
      } else if (border == Border::mirror) {
        direction = -direction;
        next = position + direction;
      } else {
        next = direction < 0 ? n - 1 : 0;
      }
    }
    position = next;
  }
  return position;
}

TEST(BorderPosition, FollowsEachRuleHoweverFarOutside) {
  for (const Border border : {Border::replicate, Border::mirror, Border::wrap, Border::constant}) {
    for (const int n : {1, 2, 3, 4, 7}) {
      for (int i = -30; i <= 30; ++i) {
        EXPECT_EQ(border_position(border, i, n), walked(border, i, n))
            << "border " << static_cast<int>(border) << ", position " << i << " of " << n;
      }
    }
  }
}

}  // namespace
}  // namespace gpufilter
