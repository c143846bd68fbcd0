// Products of matrices of low-precision numbers, dense or in DeepGEMM's groups, and the chain that
// defines their bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lab/products/number_matrix.hpp"

namespace gpufilter::lab {

// dense: one product. contiguous: every 128 rows of A belong to one of several B. masked: several
// products of their own A and B, in each of which only the first rows of A are in use.
enum class Grouping { dense, contiguous, masked };
[[nodiscard]] std::string_view to_string(Grouping grouping);

struct LowShape {
  std::size_t rows = 1;  // of A; masked: for each group
  std::size_t columns = 1;
  std::size_t depth = 1;
  Grouping grouping = Grouping::dense;
  std::size_t groups = 1;
};

// Throws UsageError if there is no such product.
void check(const LowShape& shape);

// One of the products that a grouped one consists of: first rows in A, in B (B's columns) and in C.
struct ProductPart {
  std::size_t a_row = 0;
  std::size_t rows = 0;
  std::size_t b_row = 0;
};

// The operands. C has a row for each row of A, and rows that are not in use are not computed. Its
// numbers are int32 for int8, otherwise float32; they are held as their bits.
//
// int8: the sum of the products. int8_scaled and fp8_scaled: for each 128 numbers along k,
//   acc = fma(float(sum), scale of A * scale of B, acc), from 0 on in the order of k,
// where sums of int8 are integers, and those of fp8 chains of fma from 0 on in the order of k.
// float32, bfloat16, float16, fp8_unpromoted: one chain of fma from 0 on in the order of k; for
// fp8_unpromoted multiplied by (scale of A * scale of B). Then 0 is added, which turns -0 into 0.
struct LowProduct {
  LowProduct(NumberType type, const LowShape& shape);  // of zeros

  LowShape shape;
  std::size_t group_columns;  // rows of `b` from one group's to the next's
  NumberMatrix a;
  NumberMatrix b;
  // contiguous: the group of each 128 rows, -1 for none; masked: the rows in use of each group.
  std::vector<std::int32_t> groups;

  [[nodiscard]] NumberType type() const { return a.type; }
  [[nodiscard]] std::vector<ProductPart> parts() const;
  [[nodiscard]] std::size_t elements() const { return a.rows * shape.columns; }
  // The operations for the rows in use; a multiplication with an addition counts as two.
  [[nodiscard]] double operations() const;
};

// Fills the matrices with rounded random numbers, and the groups with random ones.
void fill(LowProduct& product);
inline constexpr std::uint64_t seed_of_a = 1;
inline constexpr std::uint64_t seed_of_b = 2;

// Bytes that such a product takes on the host or on a device; throws std::overflow_error.
[[nodiscard]] std::uint64_t bytes_needed(NumberType type, const LowShape& shape);

}  // namespace gpufilter::lab
