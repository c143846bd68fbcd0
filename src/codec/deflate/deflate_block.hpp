// Deflate's blocks (RFC 1951): literals and matches in Huffman codes of their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/deflate/bit_writer.hpp"

namespace gpufilter {

inline constexpr std::size_t longest_match = 258;
inline constexpr std::size_t farthest_match = 32768;

// One block after the other: collected, then written.
class DeflateBlock {
 public:
  DeflateBlock();

  // Neither where the block is full.
  void add_literal(std::uint8_t byte) {
    symbols_[size_++] = byte;
    ++literal_counts_[byte];
  }
  // 3 <= length <= longest_match, 1 <= distance <= farthest_match.
  void add_match(std::size_t length, std::size_t distance);

  [[nodiscard]] bool is_full() const { return size_ == symbols_.size(); }

  // Writes what was added and forgets it; `bytes` are what it stands for. They are stored as they
  // are where that is shorter, so that a block takes at most 6 bytes for each 65535 more than they.
  void write(std::span<const std::uint8_t> bytes, bool last, BitWriter& out);

 private:
  static constexpr std::size_t literals = 286;  // and what ends a block, and lengths
  static constexpr std::size_t distances = 30;

  struct Codes;
  [[nodiscard]] std::uint64_t bits(const Codes& codes) const;
  void write_symbols(const Codes& codes, BitWriter& out) const;

  std::vector<std::uint32_t> symbols_;  // a literal, or a match's length above 16 bits of distance
  std::size_t size_ = 0;                // of them that are in use
  std::array<std::uint32_t, literals> literal_counts_{};
  std::array<std::uint32_t, distances> distance_counts_{};
};

// Blocks without compression, one at least; what is written ends on a whole byte then.
void write_stored(std::span<const std::uint8_t> bytes, bool last, BitWriter& out);

}  // namespace gpufilter
