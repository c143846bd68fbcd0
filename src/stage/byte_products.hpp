// Products of matrices of bytes by a GPU's matrix units: kernels/stage/byte_products.cl.
#pragma once

#include <string>

#include "base/format.hpp"
#include "device/device_info.hpp"

namespace gpufilter {

// PTX has mma for bytes from 7.5 on.
[[nodiscard]] inline bool has_byte_products(const DeviceInfo& device) {
  constexpr unsigned capability = 75;
  return device.compute_capability >= capability;
}

// For kernels that include byte_products.cl.
[[nodiscard]] inline std::string byte_product_macros(const DeviceInfo& device) {
  return formatted(" -D COMPUTE_CAPABILITY={}", device.compute_capability);
}

}  // namespace gpufilter
