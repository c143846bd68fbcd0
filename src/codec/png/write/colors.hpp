// Numbers the colours of a picture.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "codec/png/write/storage.hpp"

namespace gpufilter {

// The pixel of `channels` samples at `samples`.
template <int channels>
[[nodiscard]] inline PngColor png_color(const std::uint8_t* samples) {
  constexpr bool is_grey = channels <= 2;
  const PngColor alpha = channels % 2 == 0 ? samples[channels - 1] : 255U;
  const PngColor green = samples[is_grey ? 0 : 1];
  const PngColor blue = samples[is_grey ? 0 : 2];
  return samples[0] | green << 8U | blue << 16U | alpha << 24U;
}

// Up to 256 colours, numbered in the order in which they are added.
class PngColors {
 public:
  static constexpr std::size_t most = 256;

  // The number of a colour, which is added if it is new. Nothing if there are too many.
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

}  // namespace gpufilter
