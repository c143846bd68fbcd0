#include "support/naive_stages.hpp"

namespace gpufilter::test {
namespace {

// The picture with one more pixel on each side, according to `border`.
Image framed(const Image& image, Border border) {
  const ImageSize size = image.size();
  const PixelFormat format = image.format();
  Image frame({size.width + 2, size.height + 2}, format);
  const auto source = [border](int i, int n) {
    if (border == Border::wrap) return (i + n) % n;
    if (border == Border::mirror && n > 1) {
      if (i == -1) return 1;
      if (i == n) return n - 2;
    }
    return i < 0 ? 0 : (i >= n ? n - 1 : i);
  };
  for (int y = -1; y <= size.height; ++y) {
    for (int x = -1; x <= size.width; ++x) {
      const bool inside = x >= 0 && y >= 0 && x < size.width && y < size.height;
      for (int c = 0; c < format.channels; ++c) {
        const bool is_alpha = format.has_alpha() && c == format.channels - 1;
        const std::uint32_t black = is_alpha ? format.max_sample() : 0;
        const bool constant = border == Border::constant && !inside;
        set_sample(
            frame, x + 1, y + 1, c,
            constant ? black : sample_at(image, source(x, size.width), source(y, size.height), c));
      }
    }
  }
  return frame;
}

__extension__ using Wide = __int128;

// A quotient by 2^bits, rounded half up.
Wide halved(Wide number, int bits) {
  return bits == 0 ? number : (number + (Wide{1} << (bits - 1))) >> bits;
}

}  // namespace

Image naive_blur(const Image& image, Border border, AlphaMode alpha_mode) {
  const Image frame = framed(image, border);
  const PixelFormat format = image.format();
  const int alpha_channel = format.channels - 1;
  Image result = poisoned_image(image.size(), format);
  for (const auto [x, y, c] : each_sample(image.size(), format.channels)) {
    std::uint64_t sum = 0;
    std::uint64_t weighted_sum = 0;
    std::uint64_t alpha_sum = 0;
    for (int i = 0; i < 9; ++i) {
      const std::uint64_t value = sample_at(frame, x + i % 3, y + i / 3, c);
      const std::uint64_t alpha = sample_at(frame, x + i % 3, y + i / 3, alpha_channel);
      sum += value;
      weighted_sum += value * alpha;
      alpha_sum += alpha;
    }
    const bool weighted = format.has_alpha() && alpha_mode == AlphaMode::weighted &&
                          c != alpha_channel && alpha_sum != 0;
    const std::uint64_t mean =
        weighted ? (weighted_sum + alpha_sum / 2) / alpha_sum : (sum + 4) / 9;
    set_sample(result, x, y, c, static_cast<std::uint32_t>(mean));
  }
  return result;
}

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
