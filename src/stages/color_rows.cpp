#include "stages/color_rows.hpp"

#include <cmath>
#include <limits>

namespace gpufilter {
namespace {

template <typename Sample>
using Pixel = std::array<Sample, 4>;  // red, green, blue, alpha

template <typename Sample>
constexpr Sample max_sample = std::numeric_limits<Sample>::max();

template <typename Sample>
Pixel<Sample> load(const Sample* in, const PixelFormat& format) {
  const Sample alpha = format.has_alpha() ? in[format.channels - 1] : max_sample<Sample>;
  if (format.color_channels() == 1) return {in[0], in[0], in[0], alpha};
  return {in[0], in[1], in[2], alpha};
}

// Row `row` of the matrix times the pixel: one chain, in this order.
template <typename Sample>
Sample weighed(const ColorCoefficients& numbers, std::size_t row, const Pixel<Sample>& pixel) {
  const float* weights = numbers.data() + 5 * row;
  float sum = weights[4];
  for (std::size_t k = 0; k < 4; ++k)
    sum = std::fma(weights[k], static_cast<float>(pixel[k]), sum);
  const float max = max_sample<Sample>;
  // A NaN is not above 0. rint rounds half to even: nobody changes the rounding mode.
  const float saturated = sum > 0 ? (sum < max ? std::rint(sum) : max) : 0;
  return static_cast<Sample>(saturated);
}

template <typename Sample>
void run(const ConstRows& source, const MutableRows& target, const ColorMatrix& matrix) {
  const ColorCoefficients numbers = color_coefficients(matrix, source.format);
  const bool keeps_alpha = matrix.keeps_alpha();
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    const auto* in = reinterpret_cast<const Sample*>(source.row(y));
    auto* out = reinterpret_cast<Sample*>(target.row(y));
    for (int x = 0; x < source.width; ++x) {
      const Pixel<Sample> pixel = load(in, source.format);
      for (std::size_t c = 0; c < 3; ++c)
        out[c] = weighed(numbers, c, pixel);
      if (target.format.has_alpha()) {
        out[3] = keeps_alpha ? pixel[3] : weighed(numbers, 3, pixel);
      }
      in += source.format.channels;
      out += target.format.channels;
    }
  }
}

}  // namespace

void color_rows(const ConstRows& source, const MutableRows& target, const ColorMatrix& matrix) {
  if (source.format.depth == 8) {
    run<std::uint8_t>(source, target, matrix);
  } else {
    run<std::uint16_t>(source, target, matrix);
  }
}

}  // namespace gpufilter
