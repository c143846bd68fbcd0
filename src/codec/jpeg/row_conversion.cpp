#include "codec/jpeg/row_conversion.hpp"

#include "codec/sample_conversion.hpp"

namespace gpufilter {

JpegRowConversion::JpegRowConversion(const PixelFormat& format, int width, const Color& background)
    : format_(format),
      width_(width),
      background_(background),
      samples_(static_cast<std::size_t>(width) *
               static_cast<std::size_t>(format.color_channels())) {
  if (format_.has_alpha()) flat_.resize(samples_ * format_.bytes_per_sample());
  if (format_.depth == 16) narrow_.resize(samples_);
}

const std::uint8_t* JpegRowConversion::convert(const std::uint8_t* row) {
  if (format_.has_alpha()) {
    flatten_pixels(row, flat_.data(), width_, format_, background_);
    row = flat_.data();
  }
  if (format_.depth == 16) {
    narrow_samples(row, narrow_.data(), samples_);
    row = narrow_.data();
  }
  return row;
}

}  // namespace gpufilter
