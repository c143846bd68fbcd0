// Reads the headers of AV1 and HEVC bit by bit.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "codec/heif/boxes.hpp"

namespace gpufilter {

class BitReader {
 public:
  explicit BitReader(ByteSpan bytes) : bytes_(bytes) {}

  // At most 32 bits; 0 past the end.
  std::uint32_t bits(unsigned count) {
    std::uint32_t value = 0;
    for (; count > 0; --count, ++position_) {
      const std::size_t byte = position_ / 8;
      const unsigned bit = byte < bytes_.size() ? bytes_[byte] >> (7U - position_ % 8U) & 1U : 0U;
      value = value << 1U | bit;
    }
    return value;
  }
  bool flag() { return bits(1) != 0; }
  void skip(std::size_t count) { position_ += count; }

  // Exp-Golomb codes: ue(v) and se(v) of HEVC, and uvlc() of AV1 like the first.
  std::uint32_t exp_golomb() {
    unsigned zeros = 0;
    while (zeros < 32 && !ended() && !flag())
      ++zeros;
    return zeros == 32 ? ~0U : (1U << zeros) - 1U + bits(zeros);
  }
  std::int32_t signed_exp_golomb() {
    const std::uint32_t code = exp_golomb();
    const auto half = static_cast<std::int32_t>(code / 2);
    return (code & 1U) != 0 ? half + 1 : -half;
  }

  // Whether bits past the end were read, or none is left.
  [[nodiscard]] bool ended() const { return position_ >= bytes_.size() * 8; }

 private:
  ByteSpan bytes_;
  std::size_t position_ = 0;
};

}  // namespace gpufilter
