// The device half of most stages: one kernel that fills rows from rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stages/stage.hpp"

namespace gpufilter {

// A kernel with the parameters ROWS of kernels/common.cl, then a buffer of constants where there
// are any, and how it is launched. The defaults suit kernels that work along rows: every device
// takes groups of 64.
struct RowKernel {
  std::string file = {};  // in kernels/
  std::string function = {};
  std::string macros = {};  // besides those of common.cl
  std::vector<std::uint8_t> constants = {};
  std::size_t pixels = 4;        // neighbours in a row that a work-item fills: 1 or a multiple of 4
  std::size_t lines = 1;         // rows that a work-item fills
  std::size_t group_width = 64;  // work-items
  std::size_t group_height = 1;
  std::string variant = {};  // these two as in DevicePass::Description
  std::string reason = "the only kernel";
  std::string name = {};      // for tuning, where the function does not say all: "tiled 16x16"
  std::string fixed_by = {};  // the option that asked for this very group: "--tile 16"
};

// Neighbours in a row that fill 16 bytes or more: for kernels bound by memory.
[[nodiscard]] std::size_t wide_pixels(const PixelFormat& format);

// Builds the kernel for pictures of this size, or what tuning chose in its place: another shape, or
// one of `others`, which give the same bits. Throws DeviceError; UsageError where what was asked
// for does not fit the device.
[[nodiscard]] std::unique_ptr<DevicePass> make_row_pass(Session& session, RowKernel kernel,
                                                        ImageSize size, const PixelFormat& source,
                                                        const PixelFormat& target,
                                                        const std::vector<RowKernel>& others = {});

}  // namespace gpufilter
