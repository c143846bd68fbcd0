#include "device/device_rows.hpp"

#include "base/format.hpp"

namespace gpufilter {

std::int32_t pitch_in_samples(int width, const PixelFormat& format) {
  return static_cast<std::int32_t>(row_pitch(width, format) / format.bytes_per_sample());
}

std::string format_macros(const PixelFormat& source) {
  return formatted("-D CHANNELS={} -D DEPTH={}", source.channels, source.depth);
}

std::string format_macros(const PixelFormat& source, const PixelFormat& target) {
  return formatted("{} -D TARGET_CHANNELS={}", format_macros(source), target.channels);
}

bool has_byte_products(const DeviceInfo& device) {
  constexpr unsigned capability = 75;
  return device.compute_capability >= capability;
}

std::string byte_product_macros(const DeviceInfo& device) {
  return formatted(" -D COMPUTE_CAPABILITY={}", device.compute_capability);
}

}  // namespace gpufilter
