// Generates the OpenCL C of several stages for one kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute/picture_statistics.hpp"
#include "stage/device/pixel_function.hpp"
#include "stage/device/row_kernel.hpp"

namespace gpufilter {

// A stage over single pixels, at its position in the group.
struct PixelStep {
  PixelFunction function;
  PixelFormat source;
  PixelFormat target;
};

// A stage that also reads neighbours, with a kernel that loads and stores as
// kernels/stage/window.cl says.
struct WindowStep {
  RowKernel kernel;
  PixelFormat format;  // of its source and its result
};

// The work of one kernel, in this order; without a window, all steps are in `before`.
struct StageGroup {
  std::vector<PixelStep> before = {};
  std::optional<WindowStep> window = std::nullopt;
  std::vector<PixelStep> after = {};
  PictureShape source = {};
  PictureShape target = {};
  // The quantity that the sink counts instead of storing the result; nothing: the sink is a
  // picture.
  std::optional<Quantity> counted = std::nullopt;

  // The steps that have tables, in the order of the kernel's parameters.
  [[nodiscard]] std::vector<const PixelFunction*> functions() const;
};

// The text that precedes the kernel's file, fused.cl or the window's, whose work-items fill
// `pixels` neighbours. Steps before a window are applied to the pixels that it loads, steps after
// it to those that it stores.
[[nodiscard]] std::string fused_source(const StageGroup& group, std::size_t pixels);

}  // namespace gpufilter
