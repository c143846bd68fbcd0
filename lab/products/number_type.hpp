// The types of numbers that `gpufilter bench matmul --type` multiplies, and their encodings.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gpufilter::lab {

// int8: sums are int32. The scaled types have a scale for 1 x 128 numbers of A and for 128 x 128 of
// B. fp8 is e4m3: a sign, 4 bits of exponent, 3 of mantissa, no infinity; fp8_unpromoted has one
// scale for a row of A and for 128 columns of B, so that sums need not leave the tensor cores.
enum class NumberType { float32, int8, int8_scaled, fp8_scaled, fp8_unpromoted, bfloat16, float16 };

// "int8-scaled"; fp8_unpromoted: "fp8-unpromoted".
[[nodiscard]] std::string_view to_string(NumberType type);

inline constexpr std::array number_types{NumberType::float32,        NumberType::int8,
                                         NumberType::int8_scaled,    NumberType::fp8_scaled,
                                         NumberType::fp8_unpromoted, NumberType::bfloat16,
                                         NumberType::float16};

[[nodiscard]] constexpr int bytes_of(NumberType type) {
  if (type == NumberType::float32) return 4;
  return type == NumberType::bfloat16 || type == NumberType::float16 ? 2 : 1;
}
[[nodiscard]] constexpr bool is_integer(NumberType type) {
  return type == NumberType::int8 || type == NumberType::int8_scaled;
}
[[nodiscard]] constexpr bool is_fp8(NumberType type) {
  return type == NumberType::fp8_scaled || type == NumberType::fp8_unpromoted;
}
// Whether sums of 128 products are multiplied by scales and added up as float32.
[[nodiscard]] constexpr bool is_promoted(NumberType type) {
  return type == NumberType::int8_scaled || type == NumberType::fp8_scaled;
}

// The number that the bits stand for.
[[nodiscard]] float from_e4m3(std::uint8_t bits);
[[nodiscard]] float from_bfloat16(std::uint16_t bits);
[[nodiscard]] float from_float16(std::uint16_t bits);

// The bits of the nearest number, half to even. Beyond the largest number, e4m3 takes that, and
// the others infinity. `number` is not a NaN.
[[nodiscard]] std::uint8_t to_e4m3(float number);
[[nodiscard]] std::uint16_t to_bfloat16(float number);
[[nodiscard]] std::uint16_t to_float16(float number);

inline constexpr float largest_e4m3 = 448;

}  // namespace gpufilter::lab
