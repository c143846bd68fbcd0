// Images: pictures in a device's memory that kernels read by its texture units.
#pragma once

#include <cstddef>

#include "device/session.hpp"

namespace gpufilter {

// An image of RGBA bytes, row after row, on the session that allocated `beside`. Kernels take it as
// image2d_t; it is good for nothing else. Throws DeviceError if the device has no images or none of
// that size.
[[nodiscard]] Buffer make_image(const Buffer& beside, std::size_t width, std::size_t height,
                                const void* rgba);

}  // namespace gpufilter
