#include "lab/products/number_type.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace gpufilter::lab {
namespace {

// A format of IEEE 754's kind with fewer bits.
struct Format {
  int mantissa_bits;
  int bias;
};
constexpr Format e4m3{3, 7};
constexpr Format float16{10, 15};

// The magnitude's bits of the format; mantissa and exponent may run over into the next exponent.
std::uint32_t magnitude_bits(float magnitude, const Format& format) {
  if (magnitude == 0) return 0;
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
  // In units of the last place; nearbyint rounds half to even.
  const auto units = static_cast<std::uint32_t>(
      std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent)));
  const auto biased = static_cast<std::uint32_t>(exponent + format.bias);
  return ((biased - 1) << static_cast<unsigned>(format.mantissa_bits)) + units;
}

float number_of(std::uint32_t magnitude, const Format& format) {
  const auto bits = static_cast<unsigned>(format.mantissa_bits);
  const std::uint32_t mantissa = magnitude & ((1U << bits) - 1);
  const std::uint32_t biased = magnitude >> bits;
  const auto units = static_cast<float>(biased == 0 ? mantissa : mantissa + (1U << bits));
  const int exponent = static_cast<int>(std::max(biased, 1U)) - format.bias - format.mantissa_bits;
  return std::ldexp(units, exponent);
}

}  // namespace

std::string_view to_string(NumberType type) {
  static constexpr std::array names{"float32",        "int8",     "int8-scaled", "fp8-scaled",
                                    "fp8-unpromoted", "bfloat16", "float16"};
  return names.at(static_cast<std::size_t>(type));
}

float from_e4m3(std::uint8_t bits) {
  const std::uint32_t magnitude = bits & 0x7fU;
  const float number = magnitude == 0x7f ? std::nanf("") : number_of(magnitude, e4m3);
  return (bits & 0x80U) != 0 ? -number : number;
}

std::uint8_t to_e4m3(float number) {
  const std::uint32_t magnitude = magnitude_bits(std::min(std::abs(number), largest_e4m3), e4m3);
  return static_cast<std::uint8_t>(magnitude | (std::signbit(number) ? 0x80U : 0U));
}

float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

std::uint16_t to_bfloat16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

float from_float16(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffU;
  float number = number_of(magnitude, float16);
  if (magnitude >= 0x7c00) number = magnitude == 0x7c00 ? INFINITY : std::nanf("");
  return (bits & 0x8000U) != 0 ? -number : number;
}

std::uint16_t to_float16(float number) {
  // 65520 is halfway between the largest number and the one that would follow.
  const float magnitude = std::abs(number);
  const std::uint32_t bits = magnitude >= 65520 ? 0x7c00 : magnitude_bits(magnitude, float16);
  return static_cast<std::uint16_t>(bits | (std::signbit(number) ? 0x8000U : 0U));
}

}  // namespace gpufilter::lab
