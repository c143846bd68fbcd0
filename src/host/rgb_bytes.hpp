// Converts 8-bit RGB to RGBA and back by shuffles, which no compiler generates from a plain loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "host/instruction_set.hpp"

namespace gpufilter {

// Vectors of one register each: lanes of 16 bytes hold four pixels of RGBA or five of RGB.
template <InstructionSet set>
struct ByteVector {
  static constexpr std::size_t bytes = set == InstructionSet::avx512 ? 64 : 32;
  static constexpr std::size_t pixels = bytes / 4;
  using Bytes [[gnu::vector_size(bytes)]] = std::uint8_t;
  using Words [[gnu::vector_size(bytes)]] = std::uint32_t;
};

// For byte i of a register of RGBA: its position among four RGB pixels at the start of its lane.
constexpr int rgb_byte(int i) {
  return i / 16 * 16 + i % 16 / 4 * 3 + (i % 4 == 3 ? 0 : i % 4);
}
// For byte i of a lane of packed RGB: its position among four RGBA pixels.
constexpr int rgba_byte(int i) {
  return i / 16 * 16 + (i % 16 < 12 ? i % 16 / 3 * 4 + i % 16 % 3 : 0);
}

template <typename Vector, int... i>
[[gnu::always_inline]] inline void spread(Vector& v, std::integer_sequence<int, i...>) {
  v = __builtin_shufflevector(v, v, (i / 4 * 3 + i % 4)...);
}
template <typename Vector, int... i>
[[gnu::always_inline]] inline void gather(Vector& v, std::integer_sequence<int, i...>) {
  v = __builtin_shufflevector(v, v, (i < int{sizeof...(i)} / 4 * 3 ? i / 3 * 4 + i % 3 : 0)...);
}
template <typename Vector, int... i>
[[gnu::always_inline]] inline void expand(Vector& v, std::integer_sequence<int, i...>) {
  v = __builtin_shufflevector(v, v, rgb_byte(i)...);
}
template <typename Vector, int... i>
[[gnu::always_inline]] inline void compact(Vector& v, std::integer_sequence<int, i...>) {
  v = __builtin_shufflevector(v, v, rgba_byte(i)...);
}

// Converts as many of the `count` pixels as whole registers can without touching memory after them;
// returns their number.
template <InstructionSet set>
[[gnu::always_inline]] inline std::size_t rgb_bytes_to_rgba(const std::uint8_t* in,
                                                            std::size_t count, std::uint8_t* rgba) {
  using Vector = ByteVector<set>;
  constexpr auto words = std::make_integer_sequence<int, Vector::pixels>();
  constexpr auto bytes = std::make_integer_sequence<int, Vector::bytes>();
  std::size_t i = 0;
  for (; 3 * i + Vector::bytes <= 3 * count; i += Vector::pixels) {
    typename Vector::Words pixels;
    std::memcpy(&pixels, in + 3 * i, sizeof pixels);
    spread(pixels, words);
    auto lanes = reinterpret_cast<typename Vector::Bytes>(pixels);
    expand(lanes, bytes);
    pixels = reinterpret_cast<typename Vector::Words>(lanes) | 0xff000000U;
    std::memcpy(rgba + 4 * i, &pixels, sizeof pixels);
  }
  return i;
}

template <InstructionSet set>
[[gnu::always_inline]] inline std::size_t rgba_bytes_to_rgb(const std::uint8_t* rgba,
                                                            std::size_t count, std::uint8_t* out) {
  using Vector = ByteVector<set>;
  constexpr auto words = std::make_integer_sequence<int, Vector::pixels>();
  constexpr auto bytes = std::make_integer_sequence<int, Vector::bytes>();
  std::size_t i = 0;
  for (; 3 * i + Vector::bytes <= 3 * count; i += Vector::pixels) {
    typename Vector::Bytes lanes;
    std::memcpy(&lanes, rgba + 4 * i, sizeof lanes);
    compact(lanes, bytes);
    auto pixels = reinterpret_cast<typename Vector::Words>(lanes);
    gather(pixels, words);
    std::memcpy(out + 3 * i, &pixels, sizeof pixels);
  }
  return i;
}

}  // namespace gpufilter
