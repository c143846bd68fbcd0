// Bits packed into bytes as deflate has them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/little_endian.hpp"

namespace gpufilter {

// Writes bits from a byte's lowest one on, into memory that the caller has sized: up to eight bytes
// behind the last one are overwritten.
class BitWriter {
 public:
  explicit BitWriter(std::uint8_t* begin) : begin_(begin), next_(begin) {}

  // At most 56 bits between one flush() and the next. No bits but the lowest `count` are set.
  void put(std::uint64_t bits, int count) {
    bits_ |= bits << static_cast<unsigned>(count_);
    count_ += count;
  }

  void flush() {
    store_le64(bits_, next_);
    next_ += count_ / 8;
    bits_ >>= static_cast<unsigned>(count_ / 8 * 8);
    count_ %= 8;
  }

  // Zeros up to a whole byte.
  void fill_byte() {
    flush();
    if (count_ > 0) count_ = 8;
    flush();
  }

  // Only on a whole byte.
  void append(std::span<const std::uint8_t> bytes) {
    next_ = std::copy(bytes.begin(), bytes.end(), next_);
  }

  // In whole bytes.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(next_ - begin_); }

 private:
  std::uint8_t* begin_;
  std::uint8_t* next_;
  std::uint64_t bits_ = 0;
  int count_ = 0;
};

}  // namespace gpufilter
