// The inner loops of --resize for 8-bit samples, by the instruction that multiplies pairs of 16-bit
// numbers and adds the products of each pair (pmaddwd). A weight of more bits is two numbers, 2^16
// * high + low: sums of each are exact, as all sums are modulo 2^32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/instruction_set.hpp"
#include "stages/resize/resize_taps.hpp"

#ifdef __x86_64__
namespace gpufilter {

struct ResizeLoops {
  // Rows that are computed together along rows.
  static constexpr std::size_t lines = 16;

  // From `lines` bytes for each channel of each pixel to pairs of two pixels' bytes as 16-bit
  // numbers: for each channel those of the first line, of the second and so on, then the next two
  // pixels'. Reads a pixel more if their number is odd.
  void (*widen)(const std::uint8_t* columns, std::size_t channels, std::size_t pixels,
                std::int16_t* pairs);

  // For each channel and each line:
  //   out = (2^21 + sum over k of weights[k] * pairs[k]) >> 22, limited to 0..255
  // `pairs` as above, of 2 * count pixels. `out` has `lines` numbers for
  // each channel.
  void (*along_rows)(const std::int16_t* pairs, std::size_t channels, const ResizeTaps::Pair* taps,
                     std::size_t count, std::uint8_t* out);

  // Computes `samples` columns of bytes from 2 * count rows. Fills all, or none if these are less
  // than a vector, and returns how many.
  std::size_t (*along_columns)(const std::uint8_t* const* rows, std::size_t samples,
                               const ResizeTaps::Pair* taps, std::size_t count, std::uint8_t* out);
};

[[nodiscard]] const ResizeLoops& resize_loops(InstructionSet set);

}  // namespace gpufilter
#endif
