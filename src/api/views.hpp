// The caller's memory as rows.
#pragma once

#include <gpufilter/picture.hpp>

#include "image/rows.hpp"

namespace gpufilter {

// Throws UsageError if the shape is not that of a picture.
[[nodiscard]] PictureShape checked_shape(const Shape& shape);
[[nodiscard]] Shape public_shape(const PictureShape& shape);
// "640 x 480, RGB, 8-bit"
[[nodiscard]] std::string text_of(const PictureShape& shape);

// Throw UsageError if the view is not one of a picture.
[[nodiscard]] ConstRows rows_of(const ConstView& view);
[[nodiscard]] MutableRows rows_of(const View& view);

// Whether writing `b` changes `a`.
[[nodiscard]] bool overlap(const ConstRows& a, const ConstRows& b);

}  // namespace gpufilter
