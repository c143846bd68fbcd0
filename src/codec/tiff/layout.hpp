// How a TIFF file holds its pixels, and what becomes of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/read_limits.hpp"
#include "codec/sample_range.hpp"
#include "codec/tiff/library.hpp"
#include "codec/tiff/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

struct TiffLayout {
  // ycbcr: libtiff converts it, to pixels of four bytes.
  enum class Colors { grey, inverted_grey, palette, rgb, cmyk, lab, icc_lab, ycbcr };
  enum class Samples { whole, with_sign, floating };

  std::uint32_t width = 0;
  std::uint32_t height = 0;
  Colors colors = Colors::grey;
  Samples kind = Samples::whole;
  int bits = 8;     // of a stored sample
  int samples = 1;  // of a stored pixel
  bool premultiplied = false;
  int left_out_channels = 0;  // stored, but neither colours nor alpha
  SampleRange range;          // the stored colours that become 0 and the maximum
  std::vector<std::array<std::uint8_t, 3>> palette;
  std::shared_ptr<const InkConversion> ink;  // of CMYK; nullptr: (max - ink) (max - black) / max
  PixelFormat format;                        // of the rows that the reader yields
  FilePixels file_pixels;                    // for reports
  std::string guess = {};  // what was taken for granted, for a warning; empty: nothing

  // Whether samples are scaled from `range` to `format`'s range.
  [[nodiscard]] bool has_range() const {
    return !format.is_float() && (kind != Samples::whole || bits > 16);
  }
  [[nodiscard]] int color_samples() const;
};

// The layout of the first directory, whose fields are in `content`. Throws PictureError if such
// pixels are not supported.
[[nodiscard]] TiffLayout tiff_layout(const TiffFile& file, const TiffContent& content,
                                     const ReadLimits& limits);

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

  // As SeenRange has it.
  [[nodiscard]] std::optional<SampleRange> cut_off() const { return seen_.cut_off(); }

 private:
  // The position of a channel's samples.
  struct Place {
    const std::uint8_t* stored;
    std::size_t first;
    std::size_t step;
  };

  [[nodiscard]] Place place_of(TiffRow stored, std::size_t channel) const;
  void load(TiffRow stored, std::size_t channel);
  void load_whole(const Place& place, bool is_scaled, std::uint16_t* to) const;
  void load_range(const Place& place, bool is_alpha, std::uint16_t* to);
  void convert_colors();
  void convert_ink();
  void undo_premultiplication();
  void convert_floats(TiffRow stored, std::uint8_t* row) const;

  TiffLayout layout_;
  std::size_t colors_;    // loaded samples of a pixel that are colours
  std::size_t channels_;  // loaded samples of a pixel
  std::uint32_t max_;     // of the result
  std::optional<TiffLab> lab_;
  SeenRange seen_;                      // of the colours
  std::vector<std::uint16_t> loaded_;   // channels_ a pixel, in the range of the result
  std::vector<std::uint16_t> results_;  // as the format has them
  std::vector<std::uint8_t> ink_;
  std::vector<std::uint8_t> ink_colors_;
};

}  // namespace gpufilter
