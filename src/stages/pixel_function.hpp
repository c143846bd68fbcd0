// What a stage makes of one pixel, as OpenCL C: what several stages in one kernel are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device_info.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

struct PixelFunction {
  // Statements that fill `out` from `in`: arrays of PIXELS pixels of the stage's result and of its
  // source. They use what kernels/common.cl and kernels/fused.cl define, apart from CHANNELS and
  // what depends on it: other stages of the kernel have other formats. Constants are literals.
  std::string body;
  // What the statements know as `table`: the type of its entries in OpenCL C, and its bytes. A
  // function without a table leaves both empty.
  std::string table_entry = {};
  std::vector<std::uint8_t> table = {};
  // Numbers that are alive at a time for one pixel, where they are many.
  int numbers = 0;
  // Multiplications and additions for one pixel, where they are many.
  double operations = 0;
};

// The colours of `in[i]`, pixels of `format`, as expressions: grey counts as equal red, green and
// blue, a missing alpha as the maximum. Channels: 0 red, 1 green, 2 blue, 3 alpha.
[[nodiscard]] std::string color_expression(const PixelFormat& format, int channel);

// A literal of OpenCL C with every bit of `number`, which is finite.
[[nodiscard]] std::string float_literal(float number);

}  // namespace gpufilter
