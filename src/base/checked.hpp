// Arithmetic on sizes from files: it throws instead of overflowing.
#pragma once

#include <concepts>
#include <stdexcept>

namespace gpufilter {

// a * b; throws std::overflow_error if the product does not fit in T.
template <std::integral T>
[[nodiscard]] constexpr T checked_multiply(T a, T b) {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) throw std::overflow_error("a size does not fit");
  return product;
}

// a + b; throws std::overflow_error if the sum does not fit in T.
template <std::integral T>
[[nodiscard]] constexpr T checked_add(T a, T b) {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) throw std::overflow_error("a size does not fit");
  return sum;
}

// `value` rounded up to a multiple of `step`.
template <std::integral T>
[[nodiscard]] constexpr T round_up(T value, T step) {
  return checked_add(value, step - 1) / step * step;
}

}  // namespace gpufilter
