// Holds the rows of a picture until it is known how few bits can store them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codec/png/write/colors.hpp"
#include "codec/png/write/storage.hpp"
#include "image/rows.hpp"

namespace gpufilter {

class PngHeldPicture {
 public:
  // What is looked for.
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
  // For PngStorage::pack(), numbers of colours if `storage` has a palette. Valid until the next
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
  // Of the pixels so far.
  std::optional<PngColors> colors_;  // nothing: too many, or not looked for
  bool is_grey_ = true;
  bool is_opaque_ = true;
  bool alpha_is_binary_ = true;
  bool transparent_differ_ = false;
  std::optional<Transparent> transparent_;
  int grey_bits_ = 1;
  // The rows: a byte a pixel with its colour's number, or as they are if there is no colors_.
  std::vector<std::uint8_t> held_;
  std::vector<std::uint8_t> row_;
};

}  // namespace gpufilter
