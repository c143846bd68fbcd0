// The ways in which a PNG file can store the same pixels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// A pixel of 8-bit samples as red, green, blue and alpha, from the lowest byte to the highest.
using PngColor = std::uint32_t;

[[nodiscard]] constexpr unsigned alpha_of(PngColor color) {
  return color >> 24U;
}

// The bits of a pixel that can name so many colours: 1, 2, 4 or 8.
[[nodiscard]] constexpr int bits_for(std::size_t colors) {
  return colors <= 2 ? 1 : colors <= 4 ? 2 : colors <= 16 ? 4 : 8;
}

class PngStorage {
 public:
  // Pixels of `format` as they are.
  explicit PngStorage(const PixelFormat& format);

  // A palette of `colors`. Rows to pack hold their numbers, a byte a pixel. `order` has the numbers
  // in the order of the palette, in which those that are not opaque go first, so that tRNS is
  // short. `has_alpha`: tRNS is there even if all are opaque.
  static PngStorage with_palette(const std::vector<PngColor>& colors,
                                 std::vector<std::uint8_t> order, int bits, bool has_alpha);

  // What is left out for a smaller file.
  struct Reduction {
    bool colors = false;  // red, green and blue are equal
    bool alpha = false;
    int bits = 8;  // of grey without alpha
    // The samples of the pixels that are transparent, if alpha is left out and there are any.
    std::optional<std::array<std::uint16_t, 3>> transparent = std::nullopt;
  };
  static PngStorage reduced(const PixelFormat& format, const Reduction& reduction);

  // The data of the chunks. Without PLTE or tRNS these are empty.
  [[nodiscard]] int color_type() const { return color_type_; }
  [[nodiscard]] int depth() const { return depth_; }
  [[nodiscard]] const Bytes& palette() const { return palette_; }
  [[nodiscard]] const Bytes& transparency() const { return transparency_; }

  // For reports.
  [[nodiscard]] FilePixels file_pixels() const;

  // Whether rows to pack hold numbers of colours.
  [[nodiscard]] bool has_palette() const { return !palette_.empty(); }

  // Whether pixels are stored as they are.
  [[nodiscard]] bool is_plain() const {
    return !has_palette() && depth_ == format_.depth && taken_.size() == format_.bytes_per_pixel();
  }

  [[nodiscard]] std::size_t row_bytes(int width) const {
    return (static_cast<std::size_t>(width) * bits_a_pixel() + 7) / 8;
  }
  // Bytes from a pixel to the next, for filters.
  [[nodiscard]] std::size_t distance() const { return (bits_a_pixel() + 7) / 8; }

  // Writes a row as the file has it, row_bytes(width) bytes.
  void pack(const std::uint8_t* row, int width, std::uint8_t* packed) const;

 private:
  [[nodiscard]] std::size_t bits_a_pixel() const;

  PixelFormat format_;
  int color_type_ = 0;
  int depth_ = 8;
  Bytes palette_;
  Bytes transparency_;
  std::vector<std::size_t> taken_;  // the bytes of a pixel that are stored, in the file's order
  std::array<std::uint8_t, 256> places_{};  // in the palette, by number
};

}  // namespace gpufilter
