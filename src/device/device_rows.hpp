// Rows of a picture in the memory of a device, and their form in kernels.
#pragma once

#include <cstdint>
#include <string>

#include "device/session.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// `buffer` holds the rows `rows` at row_pitch(), after `offset` other rows.
struct DeviceRows {
  const Buffer* buffer = nullptr;
  RowRange rows;
  int offset = 0;
};

// row_pitch() in samples, the unit of kernels.
[[nodiscard]] std::int32_t pitch_in_samples(int width, const PixelFormat& format);

// The macros that describe formats to kernels/stage/common.cl: "-D CHANNELS=3 -D DEPTH=8". The
// second is for kernels whose result has a different number of channels; the depth is the same.
[[nodiscard]] std::string format_macros(const PixelFormat& source);
[[nodiscard]] std::string format_macros(const PixelFormat& source, const PixelFormat& target);

}  // namespace gpufilter
