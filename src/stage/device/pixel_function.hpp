// A stage's computation for one pixel as OpenCL C. Fused kernels are built from these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device_info.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

struct PixelFunction {
  // Statements that fill `out` from `in`: arrays of PIXELS pixels of the stage's result and of its
  // source, which they access through NUMBER, SAMPLE, SET_NUMBER, SET_SAMPLE and COPY_SAMPLE of
  // kernels/stage/pixel_functions.cl. They may use the definitions of kernels/stage/common.cl
  // except CHANNELS and those that depend on it, because other stages of the kernel may have other
  // formats. Constants are literals.
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

// The colours of `in[i]`, pixels of `format`, as expressions for floats: grey counts as equal red,
// green and blue, a missing alpha as the maximum. Channels: 0 red, 1 green, 2 blue, 3 alpha.
[[nodiscard]] std::string color_expression(const PixelFormat& format, int channel);

// The body of a function whose `statements` compute out[i] from in[i].
[[nodiscard]] std::string for_each_pixel(const std::string& statements);

// A statement that makes channel `target` of `out[i]` the alpha of `in[i]`.
[[nodiscard]] std::string copy_alpha(const PixelFormat& format, int target);

// An OpenCL C literal with every bit of `number`, which has to be finite.
[[nodiscard]] std::string float_literal(float number);

}  // namespace gpufilter
