// Bits and codes, written as deflate wants them: the first one lowest.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace gpufilter {

// A code and its length, in one word: the length lowest, so that a shift by the word is one by the
// length, and words can be added for the sum of their lengths.
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

  // At most longest_write bits; writes eight bytes, of which the complete ones stay.
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

  // At the beginning of a byte.
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
