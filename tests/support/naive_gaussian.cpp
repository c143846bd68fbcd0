#include "support/naive_gaussian.hpp"

#include <algorithm>
#include <cstdlib>

#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

__extension__ using Wide = __int128;

// A quotient by 2^bits, rounded half up.
Wide halved(Wide number, int bits) {
  return bits == 0 ? number : (number + (Wide{1} << (bits - 1))) >> bits;
}

}  // namespace

NaiveGaussian::NaiveGaussian(const Image& image, const GaussianParameters& parameters)
    : image_(image),
      parameters_(parameters),
      bits_(image.format().depth == 8 ? 15 : 26),
      weights_(gaussian_weights(parameters.sigma, parameters.truncate, bits_)) {}

std::int64_t NaiveGaussian::at(int x, int y, int channel, int more_bits) const {
  const int last = image_.format().channels - 1;
  const bool weighs = parameters_.alpha == AlphaMode::weighted && image_.format().has_alpha();
  if (weighs && channel != last) {
    const bool is_deep = image_.format().depth == 16;
    Wide colors = 0;
    Wide alphas = 0;
    for (int dy = -radius(); dy <= radius(); ++dy) {
      Wide colors_of_row = 0;
      Wide alphas_of_row = 0;
      for (int dx = -radius(); dx <= radius(); ++dx) {
        const Wide alpha = Wide{weight(dx)} * sample(x + dx, y + dy, last);
        colors_of_row += alpha * sample(x + dx, y + dy, channel);
        alphas_of_row += alpha;
      }
      colors += weight(dy) * halved(colors_of_row, is_deep ? 21 : 0);
      alphas += weight(dy) * halved(alphas_of_row, is_deep ? 5 : 0);
    }
    const Wide divisor = is_deep ? alphas >> 16 : alphas;
    const Wide opaque = Wide{max()} << (is_deep ? 47 : 30);
    if (divisor != 0 && alphas != opaque) {
      const Wide quotient = ((colors << more_bits) + divisor / 2) / divisor;
      return static_cast<std::int64_t>(std::min(quotient, Wide{max()} << more_bits));
    }
  }
  std::int64_t sum = 0;
  for (int dy = -radius(); dy <= radius(); ++dy) {
    std::int64_t row = 0;
    for (int dx = -radius(); dx <= radius(); ++dx)
      row += weight(dx) * sample(x + dx, y + dy, channel);
    sum += weight(dy) * ((row + (std::int64_t{1} << (bits_ - 8))) >> (bits_ - 7));
  }
  const int dropped = bits_ + 7 - more_bits;
  return (sum + (std::int64_t{1} << (dropped - 1))) >> dropped;
}

std::int64_t NaiveGaussian::weight(int distance) const {
  return weights_.at(static_cast<std::size_t>(std::abs(distance)));
}

std::int64_t NaiveGaussian::sample(int x, int y, int channel) const {
  return sample_beyond(image_, x, y, channel, parameters_.border);
}

}  // namespace gpufilter::test
