// Finds in some bytes what stood before already: hash chains, as zlib has them, made for pictures.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "codec/deflate/deflate_block.hpp"
#include "codec/little_endian.hpp"

namespace gpufilter {

struct Match {
  std::size_t length = 0;  // 0: none
  std::size_t distance = 0;
};

// Chains link places whose next two units are alike: they lead to long matches past all the places
// that merely share a pixel. Of the places whose next unit is alike the last one is kept, for short
// matches. Shorter ones, unless they are near, cost more than literals as a rule.
class MatchFinder {
 public:
  // Bytes at the end of the data where nothing is looked for.
  static constexpr std::size_t blind_end = 8;

  MatchFinder() : chains_(chain_table), units_(unit_table), earlier_(farthest_match) {}

  // `unit` is 3 or 4 bytes. `likely`: distances that are tried everywhere.
  void start(std::span<const std::uint8_t> data, std::size_t unit,
             std::span<const std::size_t> likely) {
    data_ = data;
    likely_ = likely;
    unit_ = unit;
    std::fill(chains_.begin(), chains_.end(), 0U);
    std::fill(units_.begin(), units_.end(), 0U);
  }

  // The longest match of data[at] and on, if longer than `known`. Looks at `candidates` places of a
  // chain at most and leaves there how many of them it did not need. at + blind_end <= data.size().
  [[nodiscard]] Match find(std::size_t at, std::size_t known, int& candidates) const {
    Search search{data_.data() + at, at, std::min(longest_match, data_.size() - at),
                  Match{std::max(known, shortest - 1), 0}};
    for (const std::size_t distance : likely_)
      search.try_likely_distance(distance);
    const std::uint64_t next = load_le64(search.here);
    follow_chain(chains_[chain_of(next)], search, candidates);
    const std::size_t place = units_[unit_of(next)];
    if (search.best.length < 2 * unit_ && place > 0) search.try_distance(at + 1 - place);
    return search.best.distance == 0 ? Match{} : search.best;
  }

  // Lets later positions find this one. Positions are inserted in their order, not all need be.
  void insert(std::size_t at) {
    const std::uint64_t next = load_le64(data_.data() + at);
    std::uint32_t& chain = chains_[chain_of(next)];
    const std::size_t step = chain == 0 ? 0 : at + 1 - chain;
    earlier_[at % farthest_match] = static_cast<std::uint16_t>(step > farthest_match ? 0 : step);
    chain = static_cast<std::uint32_t>(at + 1);
    units_[unit_of(next)] = static_cast<std::uint32_t>(at + 1);
  }

 private:
  static constexpr std::size_t shortest = 3;  // that deflate knows
  static constexpr unsigned chain_bits = 15;
  static constexpr unsigned unit_bits = 13;
  static constexpr std::size_t chain_table = std::size_t{1} << chain_bits;
  static constexpr std::size_t unit_table = std::size_t{1} << unit_bits;
  static constexpr std::uint64_t multiplier = 0x9E3779B185EBCA87U;  // spreads bits upwards

  struct Search {
    const std::uint8_t* here;
    std::size_t at;
    std::size_t most;  // bytes that a match may have here
    Match best;

    void try_likely_distance(std::size_t distance) {
      if (distance > at || distance > farthest_match) return;
      take_if_longer(distance);
    }

    // Looks first at the three bytes with which a longer match ends at the earliest.
    void try_distance(std::size_t distance) {
      if (distance > farthest_match || best.length >= most) return;
      const std::size_t end = best.length - 2;
      if (std::memcmp(here - distance + end, here + end, 3) == 0) take_if_longer(distance);
    }

    void take_if_longer(std::size_t distance) {
      const std::size_t length = common_length(here - distance);
      if (length > best.length) best = {length, distance};
    }

    [[nodiscard]] std::size_t common_length(const std::uint8_t* there) const {
      std::size_t length = 0;
      for (; length + 8 <= most; length += 8) {
        const std::uint64_t different = load_le64(there + length) ^ load_le64(here + length);
        if (different != 0) return length + std::size_t(std::countr_zero(different)) / 8;
      }
      while (length < most && there[length] == here[length])
        ++length;
      return length;
    }
  };

  void follow_chain(std::size_t place, Search& search, int& candidates) const {
    for (; place > 0 && candidates > 0; --candidates) {
      const std::size_t distance = search.at + 1 - place;
      if (distance > farthest_match) break;
      search.try_distance(distance);
      const std::size_t step = earlier_[(place - 1) % farthest_match];
      if (step == 0 || search.best.length >= search.most) break;
      place = place > step ? place - step : 0;
    }
  }

  [[nodiscard]] std::size_t chain_of(std::uint64_t next) const {
    return (next << (64U - 16U * unit_)) * multiplier >> (64U - chain_bits);
  }
  [[nodiscard]] std::size_t unit_of(std::uint64_t next) const {
    return (next << (64U - 8U * unit_)) * multiplier >> (64U - unit_bits);
  }

  std::span<const std::uint8_t> data_;
  std::span<const std::size_t> likely_;
  std::size_t unit_ = 4;
  std::vector<std::uint32_t> chains_;   // the last place of each chain, plus one; 0: none
  std::vector<std::uint32_t> units_;    // the same for units
  std::vector<std::uint16_t> earlier_;  // how far back in its chain the next place is; 0: no more
};

}  // namespace gpufilter
