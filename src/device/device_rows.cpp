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

}  // namespace gpufilter
