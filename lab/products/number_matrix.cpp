#include "lab/products/number_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/division.hpp"
#include "host/loops.hpp"
#include "host/parallel.hpp"

namespace gpufilter::lab {
namespace {

// The processor's loops take up to 32 rows at a time.
constexpr std::size_t further_rows = 32;

std::size_t scales_along_k(NumberType type, std::size_t depth) {
  if (is_promoted(type)) return divided_up(depth, scale_block);
  return type == NumberType::fp8_unpromoted ? 1 : 0;
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

void put(NumberMatrix& matrix, std::size_t row, std::size_t k, float number) {
  std::uint8_t* const to = matrix.row(row) + k * static_cast<std::size_t>(bytes_of(matrix.type));
  switch (matrix.type) {
    case NumberType::float32:
      store(to, number);
      break;
    case NumberType::int8_scaled:
      store(to, static_cast<std::int8_t>(std::nearbyint(number)));
      break;
    case NumberType::fp8_scaled:
    case NumberType::fp8_unpromoted:
      *to = to_e4m3(number);
      break;
    case NumberType::bfloat16:
      store(to, to_bfloat16(number));
      break;
    default:
      store(to, to_float16(number));
  }
}

// Rows that share scales, and their numbers.
void fill_rows(NumberMatrix& matrix, const NumberSource& source, std::size_t first,
               std::size_t last) {
  const bool is_one_block = matrix.scale_blocks <= 1;
  const std::size_t length = is_one_block ? matrix.depth : scale_block;
  const float largest = is_fp8(matrix.type) ? largest_e4m3 : 127.0F;
  for (std::size_t k_begin = 0; k_begin < matrix.depth; k_begin += length) {
    const std::size_t k_end = std::min(k_begin + length, matrix.depth);
    float magnitude = 0;
    for (std::size_t row = first; row < last; ++row) {
      for (std::size_t k = k_begin; k < k_end; ++k)
        magnitude = std::max(magnitude, std::abs(source.number(row, k)));
    }
    const float scale = matrix.scale_blocks == 0 || magnitude == 0 ? 1 : magnitude / largest;
    for (std::size_t row = first; row < last; ++row) {
      if (matrix.scale_blocks > 0) matrix.scales[matrix.scale_index(row, k_begin / length)] = scale;
      for (std::size_t k = k_begin; k < k_end; ++k)
        put(matrix, row, k, source.number(row, k) / scale);
    }
  }
}

}  // namespace

NumberMatrix::NumberMatrix(NumberType its_type, MatrixSide its_side, std::size_t its_rows,
                           std::size_t its_depth)
    : type(its_type),
      side(its_side),
      rows(its_rows),
      depth(its_depth),
      padded_rows(round_up(rows, row_padding)),
      pitch(round_up(checked_multiply(depth, static_cast<std::size_t>(bytes_of(type))),
                     byte_padding)),
      scale_blocks(scales_along_k(type, depth)),
      bytes(checked_multiply(padded_rows + further_rows, pitch)),
      scales(scale_blocks * (side == MatrixSide::a ? padded_rows : padded_rows / scale_block), 1) {}

std::size_t NumberMatrix::scale_index(std::size_t row, std::size_t block) const {
  return side == MatrixSide::a ? block * padded_rows + row
                               : row / scale_block * scale_blocks + block;
}

float NumberMatrix::number(std::size_t row_index, std::size_t k) const {
  const std::uint8_t* const from = row(row_index) + k * static_cast<std::size_t>(bytes_of(type));
  if (is_integer(type)) return load<std::int8_t>(from);
  if (is_fp8(type)) return from_e4m3(*from);
  if (type == NumberType::float32) return load<float>(from);
  const auto bits = load<std::uint16_t>(from);
  return type == NumberType::bfloat16 ? from_bfloat16(bits) : from_float16(bits);
}

double NumberMatrix::value(std::size_t row_index, std::size_t k) const {
  const double stored = number(row_index, k);
  if (scale_blocks == 0) return stored;
  const std::size_t block = scale_blocks == 1 ? 0 : k / scale_block;
  return stored * static_cast<double>(scales[scale_index(row_index, block)]);
}

std::uint64_t NumberSource::bits(std::size_t row, std::size_t k) const {
  return mixed(mixed(seed_ * 0x9e3779b97f4a7c15U + row) + k);
}

float NumberSource::number(std::size_t row, std::size_t k) const {
  // The sum of four evenly distributed numbers: almost a normal distribution. The magnitude
  // differs from block to block, as it does between the channels of a network.
  const std::uint64_t random = bits(row, k);
  const auto sum = static_cast<std::int32_t>((random & 0xffffU) + ((random >> 16U) & 0xffffU) +
                                             ((random >> 32U) & 0xffffU) + (random >> 48U));
  const auto exponent = static_cast<int>(bits(row / 16, k / scale_block) % 6) - 3;
  return std::ldexp(static_cast<float>(sum - 131070), exponent - 16);
}

std::int8_t NumberSource::integer(std::size_t row, std::size_t k) const {
  return static_cast<std::int8_t>(bits(row, k) & 0xffU);
}

void fill(NumberMatrix& matrix, const NumberSource& source) {
  const std::size_t together = matrix.side == MatrixSide::b ? scale_block : 1;
  run_parts(static_cast<int>(divided_up(matrix.rows, together)), [&](int part) {
    const std::size_t first = static_cast<std::size_t>(part) * together;
    const std::size_t last = std::min(first + together, matrix.rows);
    if (matrix.type != NumberType::int8) return fill_rows(matrix, source, first, last);
    for (std::size_t row = first; row < last; ++row) {
      for (std::size_t k = 0; k < matrix.depth; ++k)
        store(matrix.row(row) + k, source.integer(row, k));
    }
  });
}

}  // namespace gpufilter::lab
