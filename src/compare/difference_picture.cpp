#include "compare/difference_picture.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "image/pixel_format.hpp"
#include "image/sample_arithmetic.hpp"

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
[[gnu::always_inline]] inline std::uint32_t largest_difference(const Sample* a, const Sample* b,
                                                               int begin, int end) {
  std::uint32_t largest = 0;
  for (int channel = begin; channel < end; ++channel) {
    const std::uint32_t of_a = a[channel];
    const std::uint32_t of_b = b[channel];
    largest = std::max(largest, of_a > of_b ? of_a - of_b : of_b - of_a);
  }
  return largest;
}

// The largest differences of a pixel's samples, or of all samples in an area.
struct Difference {
  std::uint32_t of_colors = 0;
  std::uint32_t of_alpha = 0;
};

template <typename Sample>
[[gnu::always_inline]] inline Difference difference_of(const Sample* a, const Sample* b,
                                                       const PixelFormat& format) {
  return {largest_difference(a, b, 0, format.color_channels()),
          largest_difference(a, b, format.color_channels(), format.channels)};
}

// `brightness` is in 8 bits.
Color difference_color(const Difference& difference, std::uint32_t brightness, int depth,
                       std::uint32_t tolerance) {
  const std::uint32_t largest = std::max(difference.of_colors, difference.of_alpha);
  if (largest == 0) {
    const auto grey = static_cast<std::uint8_t>(brightness / dimming);
    return {grey, grey, grey};
  }
  if (largest <= tolerance) return within_tolerance;
  const int doublings = std::bit_width(largest) - 1;
  const auto fading = static_cast<std::uint8_t>(255 - 255 * doublings / (depth - 1));
  if (difference.of_colors <= tolerance) return {0, fading, 255};
  return {255, fading, 0};
}

template <typename Sample>
void draw_row(const ConstRows& a, const ConstRows& b, std::uint32_t tolerance, int y,
              std::uint8_t* out) {
  const auto* pixel_a = reinterpret_cast<const Sample*>(a.row(y));
  const auto* pixel_b = reinterpret_cast<const Sample*>(b.row(y));
  for (int x = 0; x < a.width; ++x) {
    const Color color = difference_color(difference_of(pixel_a, pixel_b, a.format),
                                         brightness(pixel_a, a.format), a.format.depth, tolerance);
    out = std::ranges::copy(color, out).out;
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

DifferenceMap::DifferenceMap(const PictureShape& pictures, ImageSize size, std::uint32_t tolerance)
    : pictures_(pictures), size_(size), tolerance_(tolerance), areas_(size.pixels()) {}

void DifferenceMap::add(const ConstRows& a, const ConstRows& b) {
  for (int y = a.rows.begin; y < a.rows.end; ++y) {
    for_format(a.format,
               [&]<typename Sample, int channels>() { add_row<Sample, channels>(a, b, y); });
  }
}

template <typename Sample, int channels>
void DifferenceMap::add_row(const ConstRows& a, const ConstRows& b, int y) {
  const PixelFormat format{channels, 8 * static_cast<int>(sizeof(Sample))};
  const auto* pixel_a = reinterpret_cast<const Sample*>(a.row(y));
  const auto* pixel_b = reinterpret_cast<const Sample*>(b.row(y));
  Area* area = &areas_[static_cast<std::size_t>(std::int64_t{y} * size_.height /
                                                pictures_.size.height * size_.width)];
  // Area i begins with the first pixel x for which x * width of the map / width >= i.
  std::int64_t place = 0;
  for (int x = 0; x < a.width; ++x, place += size_.width) {
    if (place >= a.width) {
      place -= a.width;
      ++area;
    }
    const Difference difference = difference_of(pixel_a, pixel_b, format);
    area->of_colors = std::max(area->of_colors, difference.of_colors);
    area->of_alpha = std::max(area->of_alpha, difference.of_alpha);
    area->brightness += brightness(pixel_a, format);
    ++area->pixels;
    pixel_a += channels;
    pixel_b += channels;
  }
}

Image DifferenceMap::image() const {
  Image image(size_, difference_format);
  auto area = areas_.begin();
  for (int y = 0; y < size_.height; ++y) {
    std::uint8_t* out = image.rows().row(y);
    for (int x = 0; x < size_.width; ++x, ++area) {
      const auto mean = static_cast<std::uint32_t>(area->brightness / area->pixels);
      const Color color = difference_color({area->of_colors, area->of_alpha}, mean,
                                           pictures_.format.depth, tolerance_);
      out = std::ranges::copy(color, out).out;
    }
  }
  return image;
}

}  // namespace gpufilter
