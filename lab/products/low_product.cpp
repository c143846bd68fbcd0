#include "lab/products/low_product.hpp"

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter::lab {
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
