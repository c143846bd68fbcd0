// The inner loop of --gaussian along rows of 8-bit samples, by the instruction that multiplies four
// bytes by four weights and adds the products (vpdpbusd of AVX-512 VNNI). A weight of 15 bits is
// two numbers of 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpufilter {

// Four weights: 256 * high + low, byte by byte; all bytes are signed.
struct WeightQuad {
  std::uint32_t high = 0;
  std::uint32_t low = 0;
};

// Whether this processor has the instructions, they are in use, and these weights, by their
// distance from the middle, suit them.
[[nodiscard]] bool takes_gaussian_quads(const std::vector<std::int32_t>& weights);

// The weights of a whole window, the last of them beside zeros.
[[nodiscard]] std::vector<WeightQuad> quads_of(const std::vector<std::int32_t>& weights);

inline constexpr int quads_read_after = 64;

// For each number, `in` being the first of its window:
//   out = (128 + sum over i of weights[i] * in[i * step]) >> 8
// Fills `count` numbers, or none if these are less than a block, and returns how many.
// quads_read_after bytes after the last window may be read. `step` is 1 to 4. `rest`, unless it is
// nullptr, gets the 8 bits that are shifted out.
std::size_t quads_along_row(const std::uint8_t* in, std::size_t count, std::size_t step,
                            const std::vector<WeightQuad>& quads, std::int16_t* out,
                            std::int16_t* rest);

}  // namespace gpufilter
