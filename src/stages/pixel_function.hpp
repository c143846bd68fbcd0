// A stage's computation for one pixel as OpenCL C. Kernels of several stages are built from these.
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
  // source. They may use the definitions of kernels/common.cl and kernels/fused.cl except CHANNELS
  // and those that depend on it, because other stages of the kernel may have other formats.
  // Constants are literals.
  std::string body;
  // The statements' `table`: the OpenCL C type of its entries, and its bytes. Both are empty if the
  // function has no table.
  std::string table_entry = {};
  std::vector<std::uint8_t> table = {};
  // Numbers that are alive at a time for one pixel, if there are many.
  int numbers = 0;
  // Multiplications and additions for one pixel, if there are many.
  double operations = 0;
};

// The colours of `in[i]`, pixels of `format`, as expressions: grey counts as equal red, green and
// blue, a missing alpha as the maximum. Channels: 0 red, 1 green, 2 blue, 3 alpha.
[[nodiscard]] std::string color_expression(const PixelFormat& format, int channel);

// An OpenCL C literal with every bit of `number`, which has to be finite.
[[nodiscard]] std::string float_literal(float number);

}  // namespace gpufilter
