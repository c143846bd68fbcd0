// Which samples of a row or a column a resized one is made of.
#pragma once

#include <cstdint>
#include <vector>

namespace gpufilter {

enum class ResizeKernel { lanczos, cubic, linear, area, box, nearest };

// Result i is (sum over k of weights[i * count + k] * source[first[i] + k]) / 2^weight_bits, for
// k = 0 ... count - 1; first[i] + count is at most the length of the source.
struct ResizeTaps {
  static constexpr int weight_bits = 22;

  int count = 0;
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> weights;  // 0 where a result needs fewer

  // The weights of two neighbours w as 2^16 * high + low, each of 16 bits with a sign.
  struct Pair {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
  };
  // The weights in pairs. The first pair of each result begins with sample first[i], or, if `even`,
  // with the one before where first[i] is odd.
  [[nodiscard]] std::vector<Pair> pairs(bool even) const;
  // The weights of four neighbours w as 2^16 * high + 2^8 * middle + low, each of 8 bits with a
  // sign, in the bytes of numbers.
  struct Quad {
    std::int32_t low = 0;
    std::int32_t middle = 0;
    std::int32_t high = 0;
  };
  // The weights in fours. The first four of each result begin with sample first[i], or, if
  // `aligned`, with the last multiple of four up to it.
  [[nodiscard]] std::vector<Quad> quads(bool aligned) const;
  [[nodiscard]] int quad_count(bool aligned) const { return (count + (aligned ? 6 : 3)) / 4; }
  [[nodiscard]] int pair_count(bool even) const { return even ? count / 2 + 1 : (count + 1) / 2; }
};

// The weights of taps as the processor's instructions for bytes want them.
struct ResizeTables {
  ResizeTables() = default;
  ResizeTables(const ResizeTaps& taps, bool along_rows)
      : pairs(taps.pairs(along_rows)), quads(taps.quads(along_rows)) {}

  std::vector<ResizeTaps::Pair> pairs;
  std::vector<ResizeTaps::Quad> quads;
};

// From `source` to `target` samples, both above 0, of pictures with samples of `depth` bits.
// `area` is the share of each sample in the part of the source that a result covers. The others are
// Pillow's coefficients: the kernel is as wide as `scale` if that is above 1, its weights are
// divided by their sum. Weights for 8 bits are Pillow's, too: each is rounded by itself, half away
// from zero. For 16 bits, and of `area`, they add up to exactly 2^weight_bits: each is the
// difference of two sums of the exact ones, rounded half to even, from the first on.
// `extent` is how much of the source is resized, if its last sample reaches beyond.
[[nodiscard]] ResizeTaps make_resize_taps(int source, int target, ResizeKernel kernel, int depth,
                                          double extent);
[[nodiscard]] inline ResizeTaps make_resize_taps(int source, int target, ResizeKernel kernel,
                                                 int depth) {
  return make_resize_taps(source, target, kernel, depth, source);
}

}  // namespace gpufilter
