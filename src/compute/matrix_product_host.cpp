#include "compute/matrix_product_host.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gpufilter {
namespace {

using std::size_t;

inline float activated(float sum, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return sum > 0.0F ? sum : 0.0F;
    case Activation::clamp:
      return sum > 0.0F ? (sum < 1.0F ? sum : 1.0F) : 0.0F;
    case Activation::none:
      break;
  }
  return std::isnan(sum) ? std::bit_cast<float>(0x7fc00000U) : sum;
}

// Elements of a row of C that are computed side by side, k after k: they stay in registers, and
// each is still a chain of its own.
constexpr size_t lanes = 32;

// One row of C. `Lanes` elements at a time first, then what is left.
[[gnu::always_inline]] inline void product_row(const float* a, const float* b, float bias, float* c,
                                               size_t columns, size_t depth,
                                               Activation activation) {
  size_t column = 0;
  for (; column + lanes <= columns; column += lanes) {
    std::array<float, lanes> sums;
    for (float& sum : sums)
      sum = bias;
    for (size_t k = 0; k < depth; ++k) {
      const float* row = b + k * columns + column;
      for (size_t i = 0; i < lanes; ++i)
        sums[i] = std::fma(a[k], row[i], sums[i]);
    }
    for (size_t i = 0; i < lanes; ++i)
      c[column + i] = activated(sums[i], activation);
  }
  for (; column < columns; ++column) {
    float sum = bias;
    for (size_t k = 0; k < depth; ++k)
      sum = std::fma(a[k], b[k * columns + column], sum);
    c[column] = activated(sum, activation);
  }
}

[[gnu::always_inline]] inline void product(const float* a, const float* b, const float* bias,
                                           float* c, const MatrixShape& shape,
                                           Activation activation) {
  const auto columns = static_cast<size_t>(shape.columns);
  const auto depth = static_cast<size_t>(shape.depth);
  for (size_t row = 0; row < static_cast<size_t>(shape.rows); ++row) {
    product_row(a + row * depth, b, bias ? bias[row] : 0.0F, c + row * columns, columns, depth,
                activation);
  }
}

void product_portable(const float* a, const float* b, const float* bias, float* c,
                      const MatrixShape& shape, Activation activation) {
  product(a, b, bias, c, shape, activation);
}

#if defined(__x86_64__) && defined(__GNUC__)
// The processor's own fma gives the bits of the C library's, many times as fast.
[[gnu::target("avx2,fma")]] void product_with_fma(const float* a, const float* b, const float* bias,
                                                  float* c, const MatrixShape& shape,
                                                  Activation activation) {
  product(a, b, bias, c, shape, activation);
}
#endif

}  // namespace

void matrix_product_host(const float* a, const float* b, const float* bias, float* c,
                         const MatrixShape& shape, Activation activation) {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_fma) return product_with_fma(a, b, bias, c, shape, activation);
#endif
  product_portable(a, b, bias, c, shape, activation);
}

}  // namespace gpufilter
