// Matrices of low-precision numbers, as products on the processor and on devices read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/products/number_type.hpp"

namespace gpufilter::lab {

// B is stored transposed: its columns are the rows here, as networks store their weights.
enum class MatrixSide { a, b };

// Numbers that share a scale; B shares it among as many rows, too.
inline constexpr std::size_t scale_block = 128;
// Rows and bytes of k are allocated in multiples of these, filled with zeros.
inline constexpr std::size_t row_padding = 256;
inline constexpr std::size_t byte_padding = 128;

// Rows of numbers along k.
struct NumberMatrix {
  NumberMatrix(NumberType type, MatrixSide side, std::size_t rows, std::size_t depth);

  NumberType type;
  MatrixSide side;
  std::size_t rows;
  std::size_t depth;         // numbers in a row
  std::size_t padded_rows;   // without the few more that vectors on the processor may read
  std::size_t pitch;         // bytes from row to row
  std::size_t scale_blocks;  // scales along k; 0: the type has none
  std::vector<std::uint8_t> bytes;
  // The scales. A has, for each block along k, one for each padded row; B has, for each 128 rows,
  // one for each block along k.
  std::vector<float> scales;

  [[nodiscard]] const std::uint8_t* row(std::size_t index) const {
    return bytes.data() + index * pitch;
  }
  [[nodiscard]] std::uint8_t* row(std::size_t index) { return bytes.data() + index * pitch; }
  [[nodiscard]] std::size_t device_bytes() const { return padded_rows * pitch; }
  [[nodiscard]] std::size_t scale_index(std::size_t row, std::size_t block) const;
  // As stored, without its scale.
  [[nodiscard]] float number(std::size_t row, std::size_t k) const;
  // The number that it stands for.
  [[nodiscard]] double value(std::size_t row, std::size_t k) const;
};

// Random numbers that do not depend on the type, around 0 and of very different magnitudes: what
// matrices are rounded from.
class NumberSource {
 public:
  explicit NumberSource(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] float number(std::size_t row, std::size_t k) const;
  // For int8, which is not rounded from anything: from -128 to 127.
  [[nodiscard]] std::int8_t integer(std::size_t row, std::size_t k) const;

 private:
  [[nodiscard]] std::uint64_t bits(std::size_t row, std::size_t k) const;
  std::uint64_t seed_;
};

// Rounds `source` to the matrix's type, on all cores. A scale is the largest magnitude of its block
// over the largest number of the type.
void fill(NumberMatrix& matrix, const NumberSource& source);

}  // namespace gpufilter::lab
