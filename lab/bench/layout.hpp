// How the operands of a matrix product are stored.
#pragma once

#include <cstddef>
#include <string>

namespace gpufilter::lab {

// A transposed matrix is stored column by column.
struct Layout {
  bool a_transposed = false;
  bool b_transposed = false;
};

// "nn", "nt", "tn", "tt": a letter for A and one for B, t if it is transposed.
[[nodiscard]] Layout layout_of(const std::string& letters);

// Stores the matrix of `rows` x `columns` numbers in `from` column by column in `to`, which is
// apart from it, on all cores.
void transpose(const float* from, std::size_t rows, std::size_t columns, float* to);

}  // namespace gpufilter::lab
