// Writes bits in deflate's order: the first one is the lowest of a byte.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace gpufilter {

// A code and its length in one word. The length is in the lowest byte: the processor's shifts use
// only the lowest bits of their count, so a shift by the word is a shift by the length, and the sum
// of words has the sum of the lengths there.
class CodeWord {
 public:
  static constexpr unsigned longest = 24;

  CodeWord() = default;
  CodeWord(std::uint32_t bits, unsigned length) : word_(bits << length_bits | length) {}
  [[nodiscard, gnu::always_inline]] std::uint64_t bits() const { return word_ >> length_bits; }
  [[nodiscard, gnu::always_inline]] unsigned length() const {
    return word_ & ((1U << length_bits) - 1);
  }
  [[nodiscard, gnu::always_inline]] std::uint32_t word() const { return word_; }

 private:
  static constexpr unsigned length_bits = 8;

  std::uint32_t word_ = 0;
};

class BitWriter {
 public:
  static constexpr unsigned longest_write = 56;

  explicit BitWriter(std::uint8_t* out) : next_(out) {}

  // Appends up to longest_write bits. Always stores eight bytes: up to eight bytes after the end
  // are overwritten.
  [[gnu::always_inline]] void write(std::uint64_t bits, unsigned count) {
    bits_ |= bits << count_;
    count_ += count;
    const std::uint64_t stored =
        std::endian::native == std::endian::big ? __builtin_bswap64(bits_) : bits_;
    std::memcpy(next_, &stored, sizeof(stored));
    next_ += count_ / 8;
    bits_ >>= count_ & ~7U;
    count_ &= 7U;
  }
  [[gnu::always_inline]] void write(CodeWord word) { write(word.bits(), word.length()); }
  void fill_byte() { write(0, (8 - count_) % 8); }

  // Only at the beginning of a byte.
  void append(std::span<const std::uint8_t> bytes) {
    std::copy(bytes.begin(), bytes.end(), next_);
    next_ += bytes.size();
  }

  [[nodiscard]] std::uint8_t* next() const { return next_; }

 private:
  std::uint8_t* next_;
  std::uint64_t bits_ = 0;
  unsigned count_ = 0;  // below 8
};

}  // namespace gpufilter
