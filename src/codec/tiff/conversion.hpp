// From the stored rows of a TIFF file to those of the reader.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/tiff/layout.hpp"

namespace gpufilter {

// To sRGB: Lab relative to D65, as libvips and ImageMagick take it; colours that sRGB does not have
// get the nearest samples. The same bits on every machine.
class TiffLab {
 public:
  // Samples have 8 or 16 bits. ICC profiles have another scale, and a and b without a sign.
  TiffLab(int depth, bool is_icc);

  // Samples of `depth` bits, as stored.
  [[nodiscard]] std::array<std::uint16_t, 3> to_rgb(const std::uint16_t* lab) const;

 private:
  [[nodiscard]] std::uint16_t sample_of(double light) const;

  double lightness_scale_;  // of a stored sample to 0..100
  double color_scale_;
  int sign_;  // what a and b begin at
  int wrap_;  // 2^depth
  bool is_icc_;
  std::vector<double> thresholds_;  // the light from which on a sample is the next one
};

// A stored row: all samples of a pixel side by side, or a row of each plane.
using TiffRow = std::span<const std::uint8_t* const>;

class TiffConversion {
 public:
  explicit TiffConversion(const TiffLayout& layout);

  // `row` gets the layout's format.
  void convert(TiffRow stored, std::uint8_t* row);

  // The smallest and the largest sample so far, or the ends of the layout's range if they are
  // further out; nothing if no sample was outside of it.
  [[nodiscard]] std::optional<SampleRange> cut_off() const;

 private:
  // Where the samples of a channel are.
  struct Place {
    const std::uint8_t* stored;
    std::size_t first;
    std::size_t step;
  };

  void load(TiffRow stored, std::size_t channel);
  void load_whole(const Place& place, bool is_scaled, std::uint16_t* to) const;
  void load_range(const Place& place, bool is_alpha, std::uint16_t* to);
  void convert_colors();
  void convert_ink();
  void undo_premultiplication();

  TiffLayout layout_;
  std::size_t colors_;    // loaded samples of a pixel that are colours
  std::size_t channels_;  // loaded samples of a pixel
  std::uint32_t max_;     // of the result
  std::optional<TiffLab> lab_;
  SampleRange seen_;
  std::vector<std::uint16_t> loaded_;   // channels_ a pixel, in the range of the result
  std::vector<std::uint16_t> results_;  // as the format has them
  std::vector<std::uint8_t> ink_;
  std::vector<std::uint8_t> ink_colors_;
};

}  // namespace gpufilter
