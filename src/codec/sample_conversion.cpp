#include "codec/sample_conversion.hpp"

#include "host/arithmetic.hpp"
#include "image/sample_arithmetic.hpp"

namespace gpufilter {
namespace {

template <typename Sample, std::size_t colors>
void flatten(const std::uint8_t* pixels, std::uint8_t* flat, std::size_t width,
             const std::array<std::uint32_t, colors>& background) {
  constexpr std::uint32_t max = static_cast<Sample>(~Sample{0});
  for (std::size_t x = 0; x < width; ++x) {
    const std::uint32_t alpha = load_sample<Sample>(pixels, x * (colors + 1) + colors);
    for (std::size_t c = 0; c < colors; ++c) {
      const std::uint32_t color = load_sample<Sample>(pixels, x * (colors + 1) + c);
      store_sample(flat, x * colors + c,
                   static_cast<Sample>(flattened(color, alpha, background[c], max)));
    }
  }
}

template <typename Sample>
void flatten_depth(const std::uint8_t* pixels, std::uint8_t* flat, std::size_t width, int colors,
                   const Color& background) {
  constexpr std::uint32_t scale = sizeof(Sample) == 1 ? 1 : 257;
  if (colors == 1) {
    flatten<Sample, 1>(pixels, flat, width,
                       {luma_bt601(background[0], background[1], background[2]) * scale});
  } else {
    flatten<Sample, 3>(pixels, flat, width,
                       {background[0] * scale, background[1] * scale, background[2] * scale});
  }
}

// Each operation is rounded; nothing is limited.
void flatten_floats(const std::uint8_t* pixels, std::uint8_t* flat, std::size_t width,
                    std::size_t colors, const Color& background) {
  const std::uint32_t grey = luma_bt601(background[0], background[1], background[2]);
  for (std::size_t i = 0; i < width * colors; ++i) {
    const std::size_t pixel = i / colors * (colors + 1);
    const auto alpha = load_sample<float>(pixels, pixel + colors);
    const float behind = float_of_sample(colors == 1 ? grey : background.at(i % colors), 255);
    store_sample(flat, i,
                 load_sample<float>(pixels, pixel + i % colors) * alpha + behind * (1 - alpha));
  }
}

template <typename Sample>
void change_depth_colors(const std::uint8_t* pixels, std::uint8_t* changed, std::size_t width,
                         std::size_t from, std::size_t to) {
  for (std::size_t x = 0; x < width; ++x) {
    const std::uint8_t* pixel = pixels + x * from * sizeof(Sample);
    std::uint8_t* result = changed + x * to * sizeof(Sample);
    const auto red = load_sample<Sample>(pixel, 0);
    if (to >= 3) {
      for (std::size_t c = 0; c < 3; ++c)
        store_sample(result, c, red);
    } else {
      store_sample(result, 0,
                   static_cast<Sample>(luma_bt601(red, load_sample<Sample>(pixel, 1),
                                                  load_sample<Sample>(pixel, 2))));
    }
    if (to % 2 == 0) store_sample(result, to - 1, load_sample<Sample>(pixel, from - 1));
  }
}

template <typename Sample>
void round_channel(std::uint8_t* pixels, std::size_t width, std::size_t channels,
                   std::size_t channel, int bits) {
  constexpr std::uint32_t max = static_cast<Sample>(~Sample{0});
  const std::uint32_t few = (1U << static_cast<unsigned>(bits)) - 1U;
  for (std::size_t i = channel; i < width * channels; i += channels) {
    const std::uint32_t sample = scaled_sample(load_sample<Sample>(pixels, i), max, few);
    store_sample(pixels, i, static_cast<Sample>(scaled_sample(sample, few, max)));
  }
}

template <typename Sample>
void to_floats(const std::uint8_t* samples, std::uint8_t* floats, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    store_sample(floats, i,
                 float_of_sample(load_sample<Sample>(samples, i), static_cast<Sample>(~Sample{0})));
}

template <typename Sample>
void from_floats(const std::uint8_t* floats, std::uint8_t* samples, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    store_sample(samples, i,
                 static_cast<Sample>(sample_of_float<Sample>(load_sample<float>(floats, i))));
}

}  // namespace

void round_to_bits(std::uint8_t* pixels, int width, const PixelFormat& format,
                   const SampleBits& bits) {
  const auto round = format.depth == 8 ? round_channel<std::uint8_t> : round_channel<std::uint16_t>;
  for (int c = 0; c < format.channels; ++c) {
    const int own = c < format.color_channels() ? bits.color : bits.alpha;
    if (own == 0 || own >= format.depth) continue;
    round(pixels, static_cast<std::size_t>(width), static_cast<std::size_t>(format.channels),
          static_cast<std::size_t>(c), own);
  }
}

void change_colors(const std::uint8_t* pixels, std::uint8_t* changed, int width,
                   const PixelFormat& format, int channels) {
  const auto change =
      format.depth == 8 ? change_depth_colors<std::uint8_t> : change_depth_colors<std::uint16_t>;
  change(pixels, changed, static_cast<std::size_t>(width),
         static_cast<std::size_t>(format.channels), static_cast<std::size_t>(channels));
}

void narrow_samples(const std::uint8_t* wide, std::uint8_t* narrow, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    narrow[i] = narrow_sample(load_sample<std::uint16_t>(wide, i));
}

void samples_to_floats(const std::uint8_t* samples, std::uint8_t* floats, std::size_t count,
                       int depth) {
  depth == 8 ? to_floats<std::uint8_t>(samples, floats, count)
             : to_floats<std::uint16_t>(samples, floats, count);
}

void floats_to_samples(const std::uint8_t* floats, std::uint8_t* samples, std::size_t count,
                       int depth) {
  depth == 8 ? from_floats<std::uint8_t>(floats, samples, count)
             : from_floats<std::uint16_t>(floats, samples, count);
}

void flatten_pixels(const std::uint8_t* pixels, std::uint8_t* flat, int width,
                    const PixelFormat& format, const Color& background) {
  const auto count = static_cast<std::size_t>(width);
  if (format.is_float()) {
    flatten_floats(pixels, flat, count, static_cast<std::size_t>(format.color_channels()),
                   background);
  } else if (format.depth == 8) {
    flatten_depth<std::uint8_t>(pixels, flat, count, format.color_channels(), background);
  } else {
    flatten_depth<std::uint16_t>(pixels, flat, count, format.color_channels(), background);
  }
}

void cmyk_to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, int width, CmykPolarity polarity) {
  const std::uint32_t flip = polarity == CmykPolarity::inverted ? 0 : 255;
  for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x) {
    const std::uint32_t key = cmyk[4 * x + 3] ^ flip;
    for (std::size_t c = 0; c < 3; ++c) {
      rgb[3 * x + c] = static_cast<std::uint8_t>(((cmyk[4 * x + c] ^ flip) * key + 127) / 255);
    }
  }
}

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
  if (from.depth != to.depth) changed_.resize(pixels * to.bytes_per_pixel());
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
  if (!changed_.empty()) {
    if (to_.is_float())
      samples_to_floats(row, changed_.data(), changed_.size() / sizeof(float), from_.depth);
    else
      narrow_samples(row, changed_.data(), changed_.size());
    row = changed_.data();
  }
  return row;
}

}  // namespace gpufilter
