#include "stages/geometry/overlay_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "host/pixels.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// flattened() with an alpha for each sample, in numbers that are just wide enough.
template <typename Sample>
struct OpaqueLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Sample* __restrict color,
                                         const Sample* __restrict alpha, const size_t count,
                                         Sample* __restrict row) {
    using Wide = std::conditional_t<sizeof(Sample) == 1, std::uint16_t, std::uint32_t>;
    constexpr Wide max = std::numeric_limits<Sample>::max();
    for (size_t i = 0; i < count; ++i) {
      const auto above = static_cast<Wide>(Wide{color[i]} * Wide{alpha[i]});
      const auto below = static_cast<Wide>(Wide{row[i]} * static_cast<Wide>(max - alpha[i]));
      row[i] = static_cast<Sample>(static_cast<Wide>(above + below + max / 2) / max);
    }
  }
};

// The quotients are those of integers, rounded down: dividend and divisor have at most 24 bits in
// 8-bit pictures and 48 in others, so that they are exact; and a quotient below a whole number is
// so far below it that it is not rounded up to it.
template <typename Sample, size_t channels>
struct AlphaLoop {
  using Number = std::conditional_t<sizeof(Sample) == 1, float, double>;

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Sample* __restrict colors, const size_t count,
                                         Sample* __restrict row) {
    constexpr Number max = std::numeric_limits<Sample>::max();
    constexpr std::uint32_t whole = std::numeric_limits<Sample>::max();
    for (size_t x = 0; x < count; ++x) {
      const auto above = Pixel<Sample, channels>::read(colors + channels * x);
      const auto below = Pixel<Sample, channels>::read(row + channels * x);
      const auto alpha = static_cast<std::uint32_t>(above.get(channels - 1));
      const auto other = static_cast<std::uint32_t>(below.get(channels - 1));
      const Number weight = static_cast<Number>(above.get(channels - 1)) * max;
      const Number rest = static_cast<Number>(below.get(channels - 1)) *
                          static_cast<Number>(static_cast<std::int32_t>(whole - alpha));
      const std::uint32_t total = alpha * whole + other * (whole - alpha);
      const Number sum = weight + rest;
      const auto half = static_cast<Number>(static_cast<std::int32_t>(total / 2));
      const Number divisor = sum > 0 ? sum : 1;
      const Number kept = sum > 0 ? rest : 1;  // a transparent pixel keeps its colour
      Pixel<Sample, channels> result;
      for (size_t c = 0; c + 1 < channels; ++c) {
        const Number dividend = static_cast<Number>(above.get(c)) * weight +
                                static_cast<Number>(below.get(c)) * kept + half;
        result.put(c, static_cast<std::uint32_t>(static_cast<std::int32_t>(dividend / divisor)));
      }
      result.put(channels - 1, (total + whole / 2) / whole);
      result.write(row + channels * x);
    }
  }
};

// Colours in place of grey. The numbers of channels are constants: with others, GCC 12 reads past
// the last pixel.
template <typename Sample, size_t channels>
void color_row(const Sample* in, size_t width, Sample* out) {
  for (size_t x = 0; x < width; ++x, in += channels, out += channels + 2) {
    out[0] = out[1] = out[2] = in[0];
    if constexpr (channels == 2) out[3] = in[1];
  }
}

template <typename Sample>
void copy_row(const std::uint8_t* from, const PixelFormat& source, size_t width,
              const PixelFormat& target, std::uint8_t* to) {
  if (source == target) {
    std::memcpy(to, from, width * source.bytes_per_pixel());
    return;
  }
  const auto* in = reinterpret_cast<const Sample*>(from);
  auto* out = reinterpret_cast<Sample*>(to);
  if (source.has_alpha()) return color_row<Sample, 2>(in, width, out);
  color_row<Sample, 1>(in, width, out);
}

template <typename Sample>
void lay_over(const OverlayPixels& above, size_t first, size_t count, std::uint8_t* row) {
  const auto channels = static_cast<size_t>(above.format.channels);
  const auto* colors = reinterpret_cast<const Sample*>(above.colors.data()) + first * channels;
  auto* out = reinterpret_cast<Sample*>(row);
  if (channels == 2) return run_loop<AlphaLoop<Sample, 2>>(colors, count, out);
  if (channels == 4) return run_loop<AlphaLoop<Sample, 4>>(colors, count, out);
  const auto* alphas = reinterpret_cast<const Sample*>(above.alphas.data()) + first * channels;
  run_loop<OpaqueLoop<Sample>>(colors, alphas, count * channels, out);
}

template <typename Sample>
void overlay_samples(const ConstRows& source, const MutableRows& target, const OverlayPixels& above,
                     PixelPosition corner) {
  const int begin = std::max(corner.x, 0);
  const int end = std::min(corner.x + above.size.width, target.width);
  const size_t bytes = target.format.bytes_per_pixel();
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    copy_row<Sample>(source.row(y), source.format, static_cast<size_t>(source.width), target.format,
                     target.row(y));
    const int v = y - corner.y;
    if (v < 0 || v >= above.size.height || begin >= end) continue;
    const size_t first = static_cast<size_t>(v) * static_cast<size_t>(above.size.width) +
                         static_cast<size_t>(begin - corner.x);
    lay_over<Sample>(above, first, static_cast<size_t>(end - begin),
                     target.row(y) + static_cast<size_t>(begin) * bytes);
  }
}

// A sample of another depth.
std::uint32_t converted(std::uint32_t sample, int from, int to) {
  if (from == to) return sample;
  return from == 8 ? sample * 257 : narrow_sample(static_cast<std::uint16_t>(sample));
}

template <typename From, typename To>
OverlayPixels pixels_of(const Image& image, const PixelFormat& format, double opacity) {
  const PixelFormat& own = image.format();
  const size_t pixels = image.size().pixels();
  OverlayPixels result{image.size(), format, {}, {}};
  result.colors.resize(pixels * format.bytes_per_pixel());
  if (!format.has_alpha()) result.alphas.resize(result.colors.size());
  std::vector<To> weights;
  for (std::uint32_t alpha = 0; alpha <= format.max_sample(); ++alpha)
    weights.push_back(static_cast<To>(std::floor(alpha * opacity + 0.5)));
  auto* colors = reinterpret_cast<To*>(result.colors.data());
  auto* alphas = format.has_alpha() ? nullptr : reinterpret_cast<To*>(result.alphas.data());
  for (int y = 0; y < image.size().height; ++y) {
    const auto* in = reinterpret_cast<const From*>(image.rows().row(y));
    for (int x = 0; x < image.size().width; ++x, in += own.channels) {
      const std::uint32_t alpha = own.has_alpha()
                                      ? converted(in[own.channels - 1], own.depth, format.depth)
                                      : format.max_sample();
      const To weight = weights[alpha];
      for (int c = 0; c < format.color_channels(); ++c) {
        const std::uint32_t color = in[own.color_channels() == 1 ? 0 : c];
        *colors++ = static_cast<To>(converted(color, own.depth, format.depth));
        if (alphas != nullptr) *alphas++ = weight;
      }
      if (alphas == nullptr) *colors++ = weight;
    }
  }
  return result;
}

template <typename Sample>
bool has_color(const std::uint8_t* row, int width, const PixelFormat& format) {
  const auto* in = reinterpret_cast<const Sample*>(row);
  for (int x = 0; x < width; ++x, in += format.channels) {
    const bool visible = !format.has_alpha() || in[3] > 0;
    if (visible && (in[0] != in[1] || in[1] != in[2])) return true;
  }
  return false;
}

}  // namespace

OverlayPixels overlay_pixels(const Image& image, const PixelFormat& format, double opacity) {
  if (image.format().depth == 8) {
    return format.depth == 8 ? pixels_of<std::uint8_t, std::uint8_t>(image, format, opacity)
                             : pixels_of<std::uint8_t, std::uint16_t>(image, format, opacity);
  }
  return format.depth == 8 ? pixels_of<std::uint16_t, std::uint8_t>(image, format, opacity)
                           : pixels_of<std::uint16_t, std::uint16_t>(image, format, opacity);
}

bool has_colors(const Image& image) {
  const PixelFormat& format = image.format();
  if (format.color_channels() == 1) return false;
  const auto look = format.depth == 8 ? has_color<std::uint8_t> : has_color<std::uint16_t>;
  for (int y = 0; y < image.size().height; ++y) {
    if (look(image.rows().row(y), image.width(), format)) return true;
  }
  return false;
}

void overlay_rows(const ConstRows& source, const MutableRows& target, const OverlayPixels& above,
                  PixelPosition corner) {
  target.format.depth == 8 ? overlay_samples<std::uint8_t>(source, target, above, corner)
                           : overlay_samples<std::uint16_t>(source, target, above, corner);
}

}  // namespace gpufilter
