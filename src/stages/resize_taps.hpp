// Which samples of a row or a column a resized one is made of.
#pragma once

#include <cstdint>
#include <vector>

namespace gpufilter {

enum class ResizeKernel { lanczos, cubic, linear, area, nearest };

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
  // The same weights in pairs. The first pair of each result begins with sample first[i], or, if
  // `even`, with the one before where first[i] is odd.
  [[nodiscard]] std::vector<Pair> pairs(bool even) const;
  [[nodiscard]] int pair_count(bool even) const { return even ? count / 2 + 1 : (count + 1) / 2; }
};

// From `source` to `target` samples, both above 0. These are Pillow's coefficients: the kernel is
// as wide as `scale` if that is above 1, its weights are divided by their sum and rounded half away
// from zero.
[[nodiscard]] ResizeTaps make_resize_taps(int source, int target, ResizeKernel kernel);

}  // namespace gpufilter
