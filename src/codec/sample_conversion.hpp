// Conversions of samples for file formats that hold less than the picture has. Their arithmetic is
// exact, or rounded once: the same bits everywhere. Rows are packed; samples need no alignment.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "image/color.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// Sample `index` of a row.
template <typename Sample>
[[nodiscard]] inline Sample load_sample(const std::uint8_t* row, std::size_t index) {
  Sample sample{};
  std::memcpy(&sample, row + index * sizeof(Sample), sizeof(Sample));
  return sample;
}
template <typename Sample>
inline void store_sample(std::uint8_t* row, std::size_t index, Sample sample) {
  std::memcpy(row + index * sizeof(Sample), &sample, sizeof(Sample));
}

// A sample of 16 bits if it `is_wide`, otherwise of 8.
inline void store_sample(std::uint8_t* row, std::size_t index, std::uint16_t sample, bool is_wide) {
  if (is_wide) return store_sample(row, index, sample);
  row[index] = static_cast<std::uint8_t>(sample);
}

// `count` samples of `depth` bits, 8 or 16, as floats, and back: float_of_sample() and
// sample_of_float().
void samples_to_floats(const std::uint8_t* samples, std::uint8_t* floats, std::size_t count,
                       int depth);
void floats_to_samples(const std::uint8_t* floats, std::uint8_t* samples, std::size_t count,
                       int depth);

// Brings samples of 16 bits from big-endian order into the machine's, or from that into this.
inline void swap_big_endian(std::span<std::uint8_t> samples) {
  if constexpr (std::endian::native == std::endian::big) return;
  for (std::size_t i = 0; i + 1 < samples.size(); i += 2)
    std::swap(samples[i], samples[i + 1]);
}

// `count` samples of 16 bits (in the machine's byte order) become as many of 8.
void narrow_samples(const std::uint8_t* wide, std::uint8_t* narrow, std::size_t count);

// Rounds the samples of `width` pixels to the nearest values that samples of fewer bits give by
// scaled_sample(). 0 bits, or `format`'s bits: no change.
struct SampleBits {
  int color = 0;
  int alpha = 0;
};
void round_to_bits(std::uint8_t* pixels, int width, const PixelFormat& format,
                   const SampleBits& bits);

// Flattens `width` pixels of `format`, which has to have alpha, onto `background`: the result has
// the same depth and no alpha; each sample is (c * a + b * (max - a) + max / 2) / max, of floats
// c * a + b * (1 - a). A grey picture gets the background's luma_bt601().
void flatten_pixels(const std::uint8_t* pixels, std::uint8_t* flat, int width,
                    const PixelFormat& format, const Color& background);

// Converts `width` pixels of `format` to `channels`, with alpha if they have it: grey becomes red,
// green and blue; colours become their luma_bt601().
void change_colors(const std::uint8_t* pixels, std::uint8_t* changed, int width,
                   const PixelFormat& format, int channels);

// The meaning of the samples of a CMYK file: `ink`: 255 is full ink; `inverted` (Adobe): 255 is
// no ink.
enum class CmykPolarity { ink, inverted };

// `width` pixels of 8-bit CMYK become RGB: (255 - C) * (255 - K) / 255 rounded, and so on.
void cmyk_to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, int width, CmykPolarity polarity);

class RowConversion {
 public:
  // Converts rows of `width` pixels to a format with no greater depth or with floats, and with
  // alpha only if `from` has it. Floats stay floats. Transparent pixels are blended with
  // `background`.
  RowConversion(const PixelFormat& from, const PixelFormat& to, int width, const Color& background);

  // Returns `row` itself if there is nothing to convert; otherwise the result is valid until the
  // next call. Alpha is removed first, then colours are changed, both at the picture's own depth.
  [[nodiscard]] const std::uint8_t* convert(const std::uint8_t* row);

 private:
  PixelFormat from_;
  PixelFormat to_;
  int width_;
  Color background_;
  std::vector<std::uint8_t> flat_;
  std::vector<std::uint8_t> colored_;
  std::vector<std::uint8_t> changed_;  // in depth
};

}  // namespace gpufilter
