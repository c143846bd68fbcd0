#include "lab/products/low_product.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "host/loops.hpp"
#include "host/parallel.hpp"

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

namespace {

std::size_t rows_of_a(const LowShape& shape) {
  return shape.grouping == Grouping::masked ? checked_multiply(shape.rows, shape.groups)
                                            : shape.rows;
}

}  // namespace

std::string_view to_string(Grouping grouping) {
  static constexpr std::array names{"dense", "contiguous", "masked"};
  return names.at(static_cast<std::size_t>(grouping));
}

void check(const LowShape& shape) {
  if (shape.grouping != Grouping::contiguous || shape.rows % scale_block == 0) return;
  throw UsageError(
      formatted("bench matmul: --grouped contiguous divides A into groups of whole blocks of {} "
                "rows, but it has {} rows; use a multiple of {}",
                scale_block, shape.rows, scale_block));
}

LowProduct::LowProduct(NumberType type, const LowShape& its_shape)
    : shape(its_shape),
      group_columns(round_up(shape.columns, row_padding)),
      a(type, MatrixSide::a, rows_of_a(shape), shape.depth),
      b(type, MatrixSide::b,
        shape.groups == 1 ? shape.columns : checked_multiply(group_columns, shape.groups),
        shape.depth) {
  if (shape.grouping == Grouping::contiguous) groups.assign(shape.rows / scale_block, 0);
  if (shape.grouping == Grouping::masked)
    groups.assign(shape.groups, static_cast<std::int32_t>(shape.rows));
}

std::vector<ProductPart> LowProduct::parts() const {
  if (shape.grouping == Grouping::dense) return {{0, shape.rows, 0}};
  std::vector<ProductPart> parts;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (shape.grouping == Grouping::masked) {
      if (groups[i] > 0)
        parts.push_back({i * shape.rows, static_cast<std::size_t>(groups[i]), i * group_columns});
    } else if (groups[i] >= 0) {
      const std::size_t b_row = static_cast<std::size_t>(groups[i]) * group_columns;
      if (!parts.empty() && parts.back().b_row == b_row &&
          parts.back().a_row + parts.back().rows == i * scale_block) {
        parts.back().rows += scale_block;
      } else {
        parts.push_back({i * scale_block, scale_block, b_row});
      }
    }
  }
  return parts;
}

double LowProduct::operations() const {
  double rows = 0;
  for (const ProductPart& part : parts())
    rows += static_cast<double>(part.rows);
  return 2 * rows * static_cast<double>(shape.columns) * static_cast<double>(shape.depth);
}

void fill(LowProduct& product) {
  fill(product.a, NumberSource(seed_of_a));
  fill(product.b, NumberSource(seed_of_b));
  const NumberSource random(3);
  const LowShape& shape = product.shape;
  for (std::size_t i = 0; i < product.groups.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(random.integer(i, 0));
    product.groups[i] =
        shape.grouping == Grouping::contiguous
            ? static_cast<std::int32_t>(byte % shape.groups)
            : static_cast<std::int32_t>((shape.rows * (std::size_t{byte} + 1) + 255) / 256);
  }
  if (shape.grouping == Grouping::contiguous)
    std::sort(product.groups.begin(), product.groups.end());
}

std::uint64_t bytes_needed(NumberType type, const LowShape& shape) {
  const std::size_t rows = rows_of_a(shape);
  const std::size_t b_rows = checked_multiply(round_up(shape.columns, row_padding), shape.groups);
  const std::size_t all_rows = checked_add(round_up(rows, row_padding), b_rows);
  const std::size_t numbers = checked_multiply(all_rows, shape.depth);
  return checked_add(checked_multiply(numbers, static_cast<std::size_t>(bytes_of(type))),
                     checked_multiply(checked_multiply(rows, shape.columns), sizeof(float)));
}

}  // namespace gpufilter::lab
