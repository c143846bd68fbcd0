// --rotate: by any angle, in degrees clockwise.
#pragma once

#include <memory>

#include "stages/geometry/warp.hpp"

namespace gpufilter {

enum class RotateFit {
  grow,  // the whole rotated picture
  keep,  // the size of the source
  crop   // the largest rectangle within the rotated picture
};

struct RotateParameters {
  double degrees = 0;
  RotateFit fit = RotateFit::grow;
  WarpParameters warp = {};
};

// Sides of results are rounded as if they were this much closer to the next whole number.
inline constexpr double tolerance_of_sides = 1.0 / 1024;

struct Rotation {
  WarpMatrix matrix;
  ImageSize size;  // of the result
};

[[nodiscard]] Rotation rotation_of(double degrees, RotateFit fit, ImageSize source);

[[nodiscard]] std::shared_ptr<const Step> make_rotate_step(const RotateParameters& parameters,
                                                           const PictureShape& shape,
                                                           StepTitle title);

// Pixels are only moved where that gives the result.
[[nodiscard]] std::shared_ptr<const Stage> make_rotate(const RotateParameters& parameters);

// The parameter --rotate-fit.
[[nodiscard]] StageParameter rotate_fit_parameter();

}  // namespace gpufilter
