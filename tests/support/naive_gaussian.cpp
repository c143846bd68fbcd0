#include "support/naive_gaussian.hpp"

#include <cstdlib>

#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

__extension__ using Wide = __int128;

}  // namespace

NaiveGaussian::NaiveGaussian(const Image& image, const GaussianParameters& parameters)
    : image_(image),
      parameters_(parameters),
      bits_(image.format().depth == 8 ? 15 : 26),
      weights_(gaussian_weights(parameters.sigma, parameters.truncate, bits_)),
      weights_of_alpha_(gaussian_weights(parameters.sigma, parameters.truncate, 15)) {}

std::int64_t NaiveGaussian::at(int x, int y, int channel, int more_bits) const {
  const int last = image_.format().channels - 1;
  const bool weighs = parameters_.alpha == AlphaMode::weighted && image_.format().has_alpha();
  if (weighs && channel != last) {
    Wide colors = 0;
    Wide alphas = 0;
    for_window([&](int dx, int dy, Wide weight) {
      const std::int64_t alpha = sample(x + dx, y + dy, last);
      colors += weight * sample(x + dx, y + dy, channel) * alpha;
      alphas += weight * alpha;
    });
    if (alphas != 0 && alphas != Wide{max()} << 30)
      return static_cast<std::int64_t>(((colors << more_bits) + alphas / 2) / alphas);
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
  const int column = border_position(parameters_.border, x, image_.width());
  const int row = border_position(parameters_.border, y, image_.size().height);
  const bool is_alpha = image_.format().has_alpha() && channel + 1 == image_.format().channels;
  if (column < 0 || row < 0) return is_alpha ? max() : 0;
  return sample_at(image_, column, row, channel);
}

template <typename Add>
void NaiveGaussian::for_window(const Add& add) const {
  const auto weight = [&](int distance) {
    return Wide{weights_of_alpha_.at(static_cast<std::size_t>(std::abs(distance)))};
  };
  for (int dy = -radius(); dy <= radius(); ++dy) {
    for (int dx = -radius(); dx <= radius(); ++dx)
      add(dx, dy, weight(dx) * weight(dy));
  }
}

}  // namespace gpufilter::test
