// Floating-point samples as words of 32 bits: stages that only move samples keep every bit.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "image/pixel_format.hpp"

namespace gpufilter {

// Calls loop(Sample{}) for the unsigned integer that has as many bits as the samples of `format`.
template <typename Loop>
void for_words(const PixelFormat& format, const Loop& loop) {
  if (format.is_float()) return loop(std::uint32_t{});
  format.depth == 8 ? loop(std::uint8_t{}) : loop(std::uint16_t{});
}

[[nodiscard]] constexpr std::uint32_t bits_of(float sample) {
  return std::bit_cast<std::uint32_t>(sample);
}

// White, or opaque, as such a word.
template <typename Word>
inline constexpr Word white_word = std::numeric_limits<Word>::max();
template <>
inline constexpr std::uint32_t white_word<std::uint32_t> = bits_of(1);

}  // namespace gpufilter
