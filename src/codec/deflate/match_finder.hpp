// Finds earlier occurrences of bytes in rows of pixels.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/deflate/format.hpp"
#include "codec/little_endian.hpp"

namespace gpufilter {

struct Match {
  std::size_t length = 0;  // below shortest_match: none
  std::size_t distance = 0;
};

// Tries the pixel above, and the last places whose next 32, 16, 8 or 4 bytes have the same hash.
// Most finders follow a chain of places with equal short hashes, which takes long in drawings. Long
// hashes lead to long matches directly.
class MatchFinder {
 public:
  // Bytes at the end of the data at which no match is searched.
  static constexpr std::size_t blind_end = 32;

  // `data` is below 4 GiB. `row` is the number of bytes from a pixel to the one below.
  void start(std::span<const std::uint8_t> data, std::size_t row) {
    data_ = data;
    row_ = row;
    tables_ = {};
  }

  // The longest of the matches that are tried for the bytes at `at`. Inserts `at`. Requires
  // at + blind_end <= data.size().
  [[nodiscard]] Match find(std::size_t at) {
    const Places places = places_of(at);
    Search search(data_, at);
    for (const std::uint32_t place : places.of_32)
      search.try_long(at - place);
    for (const std::uint32_t place : places.of_16)
      search.try_long(at - place);
    search.try_long(row_);
    if (search.best().length == 0)
      search.try_short({at - places.of_8, at - places.of_4[0], at - places.of_4[1]});
    places.insert(at);
    return search.best();
  }

  // Makes `at` a place that later calls of find() can return.
  void insert(std::size_t at) { places_of(at).insert(at); }

 private:
  // The last two places with a hash, the latest first.
  using Pair = std::array<std::uint32_t, 2>;

  // The last places by hash. Unused entries are 0, a valid place: every match is compared anyway.
  struct Tables {
    std::array<Pair, std::size_t{1} << 14U> of_4;
    std::array<std::uint32_t, std::size_t{1} << 13U> of_8;
    std::array<Pair, std::size_t{1} << 13U> of_16;
    std::array<Pair, std::size_t{1} << 13U> of_32;
  };

  // The entries for the hashes of one position.
  struct Places {
    Pair& of_4;
    std::uint32_t& of_8;
    Pair& of_16;
    Pair& of_32;

    void insert(std::size_t at) const {
      const auto place = static_cast<std::uint32_t>(at);
      of_4 = {place, of_4[0]};
      of_8 = place;
      of_16 = {place, of_16[0]};
      of_32 = {place, of_32[0]};
    }
  };

  [[nodiscard]] Places places_of(std::size_t at) {
    // Odd numbers with irregular bits: products spread each bit to the higher ones.
    constexpr std::uint64_t multiplier = 0x9E3779B185EBCA87U;
    constexpr std::uint64_t second_multiplier = 0xC2B2AE3D27D4EB4FU;
    constexpr int half = 29;  // bits, about half of a word
    const std::uint8_t* bytes = data_.data() + at;
    const std::uint64_t word = load_le64(bytes);
    const std::uint64_t hash_8 = word * multiplier;
    const std::uint64_t hash_16 =
        (hash_8 ^ std::rotl(load_le64(bytes + 8) * second_multiplier, half)) * multiplier;
    const std::uint64_t second_half = load_le64(bytes + 16) * second_multiplier ^
                                      std::rotl(load_le64(bytes + 24) * multiplier, half);
    const std::uint64_t hash_32 = (hash_16 ^ std::rotl(second_half, half)) * multiplier;
    return {entry(tables_.of_4, (word << 32U) * multiplier), entry(tables_.of_8, hash_8),
            entry(tables_.of_16, hash_16), entry(tables_.of_32, hash_32)};
  }

  template <typename Entry, std::size_t size>
  static Entry& entry(std::array<Entry, size>& table, std::uint64_t hash) {
    return table[hash >> (65U - std::bit_width(size))];
  }

  class Search {
   public:
    Search(std::span<const std::uint8_t> data, std::size_t at)
        : here_(data.data() + at),
          next_(load_le64(here_)),
          farthest_(std::min(at, longest_distance)),
          longest_(std::min(longest_match, data.size() - at)) {}

    // Takes the match at this distance if it has at least 16 bytes and is the longest so far.
    void try_long(std::size_t distance) {
      if (distance - 1 >= farthest_ || best_.length == longest_) return;
      const std::uint8_t* there = here_ - distance;
      if (load_le64(there) != next_ || load_le64(there + 8) != load_le64(here_ + 8) ||
          there[best_.length] != here_[best_.length])
        return;
      const std::size_t length = common_length(there, 16);
      if (length > best_.length) best_ = {length, distance};
    }

    // Takes the longest match at these distances. Without branches, which the processor could not
    // predict.
    void try_short(std::array<std::size_t, 3> distances) {
      std::size_t best = 0;  // the length in the upper bits; the lower ones prefer short distances
      for (const std::size_t distance : distances) {
        const bool exists = distance - 1 < farthest_;
        const std::uint64_t unequal = next_ ^ load_le64(here_ - (exists ? distance : 0));
        const auto length = static_cast<std::size_t>(std::countr_zero(unequal)) / 8;
        const std::size_t value = length << 16U | (longest_distance - distance);
        best = std::max(best, exists ? value : 0);
      }
      best_ = {best >> 16U, longest_distance - (best & 0xffffU)};
      if (best_.length == 8) best_.length = common_length(here_ - best_.distance, 8);
    }

    [[nodiscard]] const Match& best() const { return best_; }

   private:
    // The first `length` bytes are known to be equal.
    [[nodiscard]] std::size_t common_length(const std::uint8_t* there, std::size_t length) const {
      for (; length + 8 <= longest_; length += 8) {
        const std::uint64_t unequal = load_le64(there + length) ^ load_le64(here_ + length);
        if (unequal != 0) return length + static_cast<std::size_t>(std::countr_zero(unequal)) / 8;
      }
      while (length < longest_ && there[length] == here_[length])
        ++length;
      return length;
    }

    const std::uint8_t* here_;
    std::uint64_t next_;  // bytes
    std::size_t farthest_;
    std::size_t longest_;
    Match best_;
  };

  std::span<const std::uint8_t> data_;
  std::size_t row_ = 0;
  Tables tables_;
};

}  // namespace gpufilter
