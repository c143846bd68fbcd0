// Holds the rows of a picture until it is known how few bits can store them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "image/metadata.hpp"
#include "image/pixel_format.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// A pixel of 8-bit samples as red, green, blue and alpha, from the lowest byte to the highest.
using PngColor = std::uint32_t;

class PngStorage {
 public:
  // Pixels of `format` as they are.
  explicit PngStorage(const PixelFormat& format);

  // A palette of `colors`. Rows to pack hold their indices, a byte per pixel. `order` has the
  // indices in palette order, with colours that are not opaque first, so that tRNS is short.
  // `has_alpha`: tRNS is written even if all are opaque.
  static PngStorage with_palette(const std::vector<PngColor>& colors,
                                 std::vector<std::uint8_t> order, int bits, bool has_alpha);

  // Reductions for a smaller file.
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

  // Whether rows to pack hold palette indices.
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

// Up to 256 colours, numbered in the order in which they are added.
class PngColors {
 public:
  static constexpr std::size_t most = 256;

  // The index of a colour, which is added if it is new; nothing if there are too many.
  std::optional<std::uint8_t> add(PngColor color) {
    constexpr std::uint32_t multiplier = 0x9E3779B1U;  // odd, with irregular bits
    std::size_t at = color * multiplier >> 22U;
    while (slots_[at].is_used && slots_[at].color != color)
      at = (at + 1) % slots_.size();
    if (!slots_[at].is_used) {
      if (colors_.size() == most) return std::nullopt;
      slots_[at] = {color, static_cast<std::uint8_t>(colors_.size()), true};
      colors_.push_back(color);
    }
    return slots_[at].number;
  }

  [[nodiscard]] const std::vector<PngColor>& all() const { return colors_; }

 private:
  struct Slot {
    PngColor color = 0;
    std::uint8_t number = 0;
    bool is_used = false;
  };
  std::array<Slot, 1024> slots_{};
  std::vector<PngColor> colors_;
};

class PngHeldPicture {
 public:
  // The kind of reduction to look for.
  enum class Aim {
    palette,   // a palette of the same channels
    few_bits,  // grey of fewer than 8 bits
    smallest   // whatever holds the same pixels
  };

  // The memory that the rows may take.
  [[nodiscard]] static std::uint64_t bytes(ImageSize size, const PixelFormat& format, Aim aim);

  // `keeps_colors`: a grey picture stays grey and a coloured one coloured, as its profile demands.
  PngHeldPicture(ImageSize size, const PixelFormat& format, Aim aim, bool keeps_colors);

  // Adds the next row. Returns whether the aim can still be reached.
  bool add(const std::uint8_t* row);

  // The rows so far.
  [[nodiscard]] int rows() const { return rows_; }
  // A row for PngStorage::pack(), palette indices if `storage` has a palette. Valid until the next
  // call.
  [[nodiscard]] const std::uint8_t* row(int y, const PngStorage& storage);

  // After the last row: the storages that reach the aim. For Aim::smallest, all that may be the
  // smallest, the first one with the pixels as they are.
  [[nodiscard]] std::vector<PngStorage> storages();

 private:
  // The samples of the pixels with alpha 0, if they are the same in all of them.
  using Transparent = std::array<std::uint16_t, 3>;

  template <int channels>
  void note_row(const std::uint8_t* row);
  void note_grey_row(const std::uint8_t* row);
  void note_wide_row(const std::uint8_t* row);
  void note(PngColor color);
  void note_transparent(const Transparent& samples);
  void give_up_numbers();
  [[nodiscard]] bool may_leave_out_alpha() const;
  [[nodiscard]] bool may_be_grey() const;
  [[nodiscard]] bool palette_helps() const;
  [[nodiscard]] bool is_reachable() const;
  [[nodiscard]] bool is_unlike_opaque(const Transparent& samples);
  [[nodiscard]] PngStorage::Reduction reduction();

  ImageSize size_;
  PixelFormat format_;
  Aim aim_;
  bool keeps_colors_;
  int rows_ = 0;
  // The colours of the pixels so far.
  std::optional<PngColors> colors_;  // nothing: too many, or not looked for
  bool is_grey_ = true;
  bool is_opaque_ = true;
  bool alpha_is_binary_ = true;
  bool transparent_differ_ = false;
  std::optional<Transparent> transparent_;
  int grey_bits_ = 1;
  // The rows: a byte per pixel with its colour's index, or unchanged without colors_.
  std::vector<std::uint8_t> held_;
  std::vector<std::uint8_t> row_;
};

}  // namespace gpufilter
