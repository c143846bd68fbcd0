// Pixels as numbers, the unit that vectorised loops read and write.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "host/instruction_set.hpp"
#include "host/loops.hpp"

namespace gpufilter {

// Vectors of one register each: lanes of 16 bytes hold four pixels of RGBA or five of RGB.
template <InstructionSet set>
struct ByteVector {
  static constexpr std::size_t bytes = set >= InstructionSet::avx512 ? 64 : 32;
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

// Converts as many of the `count` pixels as fit whole registers, without touching memory after
// them; returns their number.
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

// A pixel of 2 or 4 samples in as few words of up to 32 bits as possible: vectors of every
// processor can convert such words to floats and back.
template <typename Sample, std::size_t channels>
class Pixel {
 public:
  [[gnu::always_inline]] static Pixel read(const Sample* from) {
    Pixel pixel;
    for (std::size_t i = 0; i < words; ++i)
      pixel.words_[i] = load<Word>(from + i * samples);
    return pixel;
  }
  [[gnu::always_inline]] void write(Sample* to) const {
    for (std::size_t i = 0; i < words; ++i)
      store(to + i * samples, words_[i]);
  }

  [[nodiscard, gnu::always_inline]] std::int32_t get(std::size_t channel) const {
    return static_cast<std::int32_t>((words_[channel / samples] >> shift(channel)) & max);
  }
  // The channel has to hold 0 before.
  [[gnu::always_inline]] void put(std::size_t channel, std::uint32_t sample) {
    Word& word = words_[channel / samples];
    word = static_cast<Word>(word | static_cast<Word>(sample) << shift(channel));
  }

  // This pixel's words if `first`, otherwise `other`'s.
  [[nodiscard, gnu::always_inline]] Pixel if_else(bool first, const Pixel& other) const {
    Pixel pixel;
    for (std::size_t i = 0; i < words; ++i)
      pixel.words_[i] = first ? words_[i] : other.words_[i];
    return pixel;
  }
  [[gnu::always_inline]] Pixel& operator&=(const Pixel& other) {
    for (std::size_t i = 0; i < words; ++i)
      words_[i] &= other.words_[i];
    return *this;
  }

 private:
  using Word = std::conditional_t<sizeof(Sample) * channels == 2, std::uint16_t, std::uint32_t>;
  static constexpr std::size_t samples = sizeof(Word) / sizeof(Sample);  // in a word
  static constexpr std::size_t words = channels / samples;
  static constexpr Word max = std::numeric_limits<Sample>::max();

  static constexpr std::size_t shift(std::size_t channel) {
    const std::size_t place = channel % samples;
    return std::numeric_limits<Sample>::digits *
           (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? place : samples - 1 - place);
  }

  std::array<Word, words> words_{};
};

// `count` pixels of 1 to 3 channels as RGBA: grey is repeated, a missing alpha is the maximum. Here
// and below, no sample after the pixels is read or written.
template <InstructionSet set, std::size_t channels, typename Sample>
[[gnu::always_inline]] inline void to_rgba(const Sample* in, std::size_t count, Sample* rgba) {
  std::size_t i = 0;
  if constexpr (channels == 3 && sizeof(Sample) == 1 && set >= InstructionSet::avx2) {
    i = rgb_bytes_to_rgba<set>(in, count, rgba);
  }
  for (; i < count; ++i) {
    const Sample* from = in + channels * i;
    Pixel<Sample, 4> pixel;
    pixel.put(0, from[0]);
    pixel.put(1, from[channels == 3 ? 1 : 0]);
    pixel.put(2, from[channels == 3 ? 2 : 0]);
    pixel.put(3, channels == 2 ? from[1] : std::numeric_limits<Sample>::max());
    pixel.write(rgba + 4 * i);
  }
}

// The colours of `count` RGBA pixels.
template <InstructionSet set, typename Sample>
[[gnu::always_inline]] inline void to_rgb(const Sample* rgba, std::size_t count, Sample* rgb) {
  std::size_t i = 0;
  if constexpr (sizeof(Sample) == 1 && set >= InstructionSet::avx2) {
    i = rgba_bytes_to_rgb<set>(rgba, count, rgb);
  }
  for (; i < count; ++i) {
    for (std::size_t c = 0; c < 3; ++c)
      rgb[3 * i + c] = rgba[4 * i + c];
  }
}

// Converts with a number of channels that is known only at run time, including 4.
template <InstructionSet set, typename Sample>
[[gnu::always_inline]] inline void to_rgba(const Sample* in, std::size_t channels,
                                           std::size_t count, Sample* rgba) {
  switch (channels) {
    case 1:
      return to_rgba<set, 1>(in, count, rgba);
    case 2:
      return to_rgba<set, 2>(in, count, rgba);
    case 3:
      return to_rgba<set, 3>(in, count, rgba);
    default:
      std::copy_n(in, 4 * count, rgba);
  }
}

// RGBA as 3 or 4 channels.
template <InstructionSet set, typename Sample>
[[gnu::always_inline]] inline void from_rgba(const Sample* rgba, std::size_t count,
                                             std::size_t channels, Sample* out) {
  if (channels == 3) return to_rgb<set>(rgba, count, out);
  std::copy_n(rgba, 4 * count, out);
}

}  // namespace gpufilter
