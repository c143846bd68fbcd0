#include "pipeline/difference_picture.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "image/luma.hpp"

namespace gpufilter {
namespace {

using Color = std::array<std::uint8_t, 3>;

constexpr std::uint32_t dimming = 3;
// Dark, so that pixels beyond the tolerance stand out, and of a hue that people with any colour
// vision can distinguish from red and yellow (after Okabe and Ito, 2008).
constexpr Color within_tolerance{0, 79, 58};

// In 8 bits; alpha is ignored.
template <typename Sample>
std::uint32_t brightness(const Sample* pixel, const PixelFormat& format) {
  const std::uint32_t luma =
      format.color_channels() == 1 ? pixel[0] : luma_bt601(pixel[0], pixel[1], pixel[2]);
  return luma >> static_cast<unsigned>(format.depth - 8);
}

template <typename Sample>
std::uint32_t largest_difference(const Sample* a, const Sample* b, int begin, int end) {
  std::uint32_t largest = 0;
  for (int channel = begin; channel < end; ++channel) {
    const std::uint32_t of_a = a[channel];
    const std::uint32_t of_b = b[channel];
    largest = std::max(largest, of_a > of_b ? of_a - of_b : of_b - of_a);
  }
  return largest;
}

template <typename Sample>
Color difference_color(const Sample* a, const Sample* b, const PixelFormat& format,
                       std::uint32_t tolerance) {
  const std::uint32_t of_colors = largest_difference(a, b, 0, format.color_channels());
  const std::uint32_t of_alpha = largest_difference(a, b, format.color_channels(), format.channels);
  const std::uint32_t largest = std::max(of_colors, of_alpha);
  if (largest == 0) {
    const auto grey = static_cast<std::uint8_t>(brightness(a, format) / dimming);
    return {grey, grey, grey};
  }
  if (largest <= tolerance) return within_tolerance;
  const int doublings = std::bit_width(largest) - 1;
  const auto fading = static_cast<std::uint8_t>(255 - 255 * doublings / (format.depth - 1));
  if (of_colors <= tolerance) return {0, fading, 255};
  return {255, fading, 0};
}

template <typename Sample>
void draw_row(const ConstRows& a, const ConstRows& b, std::uint32_t tolerance, int y,
              std::uint8_t* out) {
  const auto* pixel_a = reinterpret_cast<const Sample*>(a.row(y));
  const auto* pixel_b = reinterpret_cast<const Sample*>(b.row(y));
  for (int x = 0; x < a.width; ++x) {
    out = std::ranges::copy(difference_color(pixel_a, pixel_b, a.format, tolerance), out).out;
    pixel_a += a.format.channels;
    pixel_b += b.format.channels;
  }
}

}  // namespace

void draw_difference(const ConstRows& a, const ConstRows& b, std::uint32_t tolerance,
                     const MutableRows& drawing) {
  for (int y = a.rows.begin; y < a.rows.end; ++y) {
    if (a.format.depth == 8) {
      draw_row<std::uint8_t>(a, b, tolerance, y, drawing.row(y));
    } else {
      draw_row<std::uint16_t>(a, b, tolerance, y, drawing.row(y));
    }
  }
}

}  // namespace gpufilter
