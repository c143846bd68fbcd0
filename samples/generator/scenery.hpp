// The parts of the landscape, painted from back to front.
#pragma once

#include "generator/canvas.hpp"

namespace gpufilter::samples {

// Places are given in parts of the picture's height: x from 0 to 1.5, y from 0 (top) to 1.
inline constexpr double water_line = 0.585;
inline constexpr double sun_x = 1.215;
inline constexpr double sun_y = 0.372;

void paint_sky(Canvas& canvas);
void paint_mountains(Canvas& canvas);
void paint_far_shore(Canvas& canvas);  // forest down to the water line
void paint_water(Canvas& canvas);      // mirrors what is above the water line
void paint_meadow(Canvas& canvas);
void paint_near_trees(Canvas& canvas);

// A conifer standing at (x, y), in pixels; `lit` is its sunny side's colour.
struct Tree {
  double x = 0.0;
  int y = 0;
  double height = 0.0;
  Color shade;
  Color lit;
};
void paint_tree(Canvas& canvas, const Tree& tree, std::uint32_t seed);

}  // namespace gpufilter::samples
