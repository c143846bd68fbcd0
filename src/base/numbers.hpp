// Arithmetic on sizes and counts, and whole numbers in texts.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <type_traits>

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

// The number of parts of `by` things, the last one perhaps smaller, that hold `count` things.
template <std::integral Number>
[[nodiscard]] constexpr Number divided_up(Number count, std::type_identity_t<Number> by) {
  return (count + by - 1) / by;
}

// Whether all of `text` is a number; if so, sets `number` to it.
// `base` is for whole numbers.
template <typename Number, typename... Base>
[[nodiscard]] bool parse_whole(std::string_view text, Number& number, Base... base) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base...);
  return error == std::errc{} && stop == end;
}

// A number of bytes above 0, with K, M or G for powers of 1024: "500K". Nothing if `text` is none.
[[nodiscard]] inline std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view suffixes = "KMG";
  constexpr auto none = std::string_view::npos;
  const std::size_t suffix = text.empty() ? none : suffixes.find(text.back());
  const unsigned shift = suffix == none ? 0 : 10 * (static_cast<unsigned>(suffix) + 1);
  if (shift > 0) text.remove_suffix(1);
  std::uint64_t value = 0;
  if (!parse_whole(text, value) || value == 0 || value > (UINT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

}  // namespace gpufilter
