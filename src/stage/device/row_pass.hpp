// The device part of most stages: one kernel that fills rows from rows.
#pragma once

#include <cstddef>
#include <memory>

#include "stage/device/row_kernel.hpp"
#include "stage/stage.hpp"

namespace gpufilter {

// Neighbours in a row that fill 16 bytes or more: for kernels bound by memory.
[[nodiscard]] std::size_t wide_pixels(const PixelFormat& format);

// Builds the kernel for pictures of these shapes, or the tuning's choice in its place: another
// shape, or one of `others`, which give the same bits. Throws DeviceError; UsageError if a
// requested kernel does not fit the device.
[[nodiscard]] std::unique_ptr<DevicePass> make_row_pass(Session& session, RowKernel kernel,
                                                        const PictureShape& source,
                                                        const PictureShape& target,
                                                        const std::vector<RowKernel>& others = {});

}  // namespace gpufilter
