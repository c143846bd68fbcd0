// Vectors of samples, and their comparisons, for the loops of --median.
#pragma once

#include <cstdint>

#include "host/instruction_set.hpp"

namespace gpufilter::median {

template <typename Sample, InstructionSet set>
struct VectorOf;
#define VECTOR_OF(sample, set, bytes)                \
  template <>                                        \
  struct VectorOf<sample, InstructionSet::set> {     \
    using type [[gnu::vector_size(bytes)]] = sample; \
  }
VECTOR_OF(std::uint8_t, baseline, 16);
VECTOR_OF(std::uint8_t, avx2, 32);
VECTOR_OF(std::uint8_t, avx512, 64);
VECTOR_OF(std::uint16_t, baseline, 16);
VECTOR_OF(std::uint16_t, avx2, 32);
VECTOR_OF(std::uint16_t, avx512, 64);
#undef VECTOR_OF

// Numbers are samples or vectors of samples.
template <typename Number>
[[gnu::always_inline]] inline Number smaller(const Number& a, const Number& b) {
  return a < b ? a : b;
}
template <typename Number>
[[gnu::always_inline]] inline Number larger(const Number& a, const Number& b) {
  return a < b ? b : a;
}

}  // namespace gpufilter::median
