#include "support/naive_blur.hpp"

#include <array>

#include "support/pictures.hpp"

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

}  // namespace gpufilter::test
