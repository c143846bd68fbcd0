// Convolutions of quantized values on the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/net_fours.hpp"

namespace gpufilter {

struct NetIntegerRow {
  const NetFours& fours;
  const NetIntegers& integers;
  // Distances in words, from the first tap of a column in a block's first plane, of the words that
  // are multiplied by fours.words.
  const std::vector<std::ptrdiff_t>& distances;
  const std::uint32_t* in;  // the first tap of the first column, in plane 0
  std::size_t in_pitch;     // words from a plane to the next
  void* out;                // the first column of plane 0: of words, without scales of floats
  std::size_t out_pitch;
  std::size_t outputs;
  std::int32_t out_low;  // the number that a byte 0 of the result means
  std::size_t columns;
};

// Rows of results, one after the other.
struct NetIntegerRows {
  NetIntegerRow first;
  std::size_t rows;
  std::size_t in_row_pitch;  // words from a row to the next
  std::size_t out_row_pitch;

  [[nodiscard]] NetIntegerRow row(std::size_t y) const {
    NetIntegerRow row = first;
    row.in += y * in_row_pitch;
    row.out = static_cast<std::uint32_t*>(row.out) + y * out_row_pitch;
    return row;
  }
};

// Computes the rows with the vectors of the instruction set in use. Up to net_slack columns after
// them may be overwritten.
void net_integer_rows(const NetIntegerRows& rows);

}  // namespace gpufilter
