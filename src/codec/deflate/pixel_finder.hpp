// Finds repetitions of whole RGB pixels, several times as fast as MatchFinder.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/deflate/match_deflater.hpp"
#include "codec/deflate/match_finder.hpp"
#include "codec/little_endian.hpp"

namespace gpufilter {

// Tries the last place with the same two pixels or, if there is none, with the same single pixel.
class PixelFinder {
 public:
  static constexpr std::size_t pixel = MatchDeflater::pixel;

  // Bytes at the end of the data at which no match is searched.
  static constexpr std::size_t blind_end = 8;

  void start(std::span<const std::uint8_t> data) {
    data_ = data;
    of_one_ = {};
    of_two_ = {};
  }

  // A match of whole pixels at `at` that ends at `end` at the latest. Inserts `at`. Requires at <
  // end and at + blind_end <= data.size().
  [[nodiscard]] Match find(std::size_t at, std::size_t end) {
    const std::uint8_t* here = data_.data() + at;
    const std::uint64_t next = load_le64(here);
    const Places places = places_of(next);
    const std::size_t of_two = static_cast<Place>(at - places.of_two);
    const std::size_t of_one = static_cast<Place>(at - places.of_one);
    places.insert(at);
    const std::size_t farthest = std::min(at, longest_distance);
    const bool two = of_two - 1 < farthest && (next ^ load_le64(here - of_two)) << 16U == 0;
    const std::size_t distance = two ? of_two : of_one;
    if (distance - 1 >= farthest) return {};
    const std::uint64_t unequal = next ^ load_le64(here - distance);
    if (unequal << 40U != 0) return {};
    const std::size_t longest = std::min(longest_match, end - at);
    const std::size_t length = unequal != 0
                                   ? static_cast<std::size_t>(std::countr_zero(unequal)) / 8
                                   : common_length(here, distance, longest);
    return {std::min(length, longest) / pixel * pixel, distance};
  }

  // Makes `at` a place that later calls of find() can return. Requires at + blind_end <=
  // data.size().
  void insert(std::size_t at) { places_of(load_le64(data_.data() + at)).insert(at); }

 private:
  // A position modulo 64 KiB, twice the distance that a match may have. Places are compared before
  // they are used, so outdated and unused ones are harmless.
  using Place = std::uint16_t;

  struct Places {
    Place& of_one;
    Place& of_two;

    void insert(std::size_t at) const {
      of_one = static_cast<Place>(at);
      of_two = static_cast<Place>(at);
    }
  };

  // The entries for a position whose next eight bytes are `next`.
  Places places_of(std::uint64_t next) {
    constexpr std::uint64_t multiplier = 0x9E3779B185EBCA87U;  // odd, with irregular bits
    return {of_one_[(next << 40U) * multiplier >> (65U - std::bit_width(of_one_.size()))],
            of_two_[(next << 16U) * multiplier >> (65U - std::bit_width(of_two_.size()))]};
  }

  // The first eight bytes are known to be equal.
  static std::size_t common_length(const std::uint8_t* here, std::size_t distance,
                                   std::size_t longest) {
    std::size_t length = 8;
    for (; length + 8 <= longest; length += 8) {
      const std::uint64_t unequal = load_le64(here + length) ^ load_le64(here + length - distance);
      if (unequal != 0) return length + static_cast<std::size_t>(std::countr_zero(unequal)) / 8;
    }
    while (length < longest && here[length] == *(here + length - distance))
      ++length;
    return length;
  }

  std::span<const std::uint8_t> data_;
  std::array<Place, std::size_t{1} << 12U> of_one_{};
  std::array<Place, std::size_t{1} << 13U> of_two_{};
};

}  // namespace gpufilter
