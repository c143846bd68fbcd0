#include "codec/row_conversion.hpp"

#include "codec/sample_conversion.hpp"

namespace gpufilter {

RowConversion::RowConversion(const PixelFormat& from, const PixelFormat& to, int width,
                             const Color& background)
    : from_(from), to_(to), width_(width), background_(background) {
  const auto pixels = static_cast<std::size_t>(width);
  if (from.has_alpha() && !to.has_alpha()) {
    from_.channels = from.color_channels();
    flat_.resize(pixels * from_.bytes_per_pixel());
  }
  if (from_.channels != to.channels)
    colored_.resize(pixels * PixelFormat{to.channels, from.depth}.bytes_per_pixel());
  if (from.depth != to.depth) narrow_.resize(pixels * to.bytes_per_pixel());
}

const std::uint8_t* RowConversion::convert(const std::uint8_t* row) {
  if (!flat_.empty()) {
    flatten_pixels(row, flat_.data(), width_, {from_.channels + 1, from_.depth}, background_);
    row = flat_.data();
  }
  if (!colored_.empty()) {
    change_colors(row, colored_.data(), width_, from_, to_.channels);
    row = colored_.data();
  }
  if (!narrow_.empty()) {
    narrow_samples(row, narrow_.data(), narrow_.size());
    row = narrow_.data();
  }
  return row;
}

}  // namespace gpufilter
