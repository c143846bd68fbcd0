// The taps and weights of each resized sample of a row or a column.
#pragma once

#include <cstddef>
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

  // The weights of `neighbours` samples, two or four, as the processor multiplies them: a weight w
  // is 2^16 * high + low, each of 16 bits with a sign, or 2^16 * high + 2^8 * middle + low, each of
  // 8 bits. For each result and each group of neighbours there are a number of all low parts, one
  // of the next and so on. The first group begins with sample first[i], or, if `aligned`, with the
  // last multiple of `neighbours` up to it.
  [[nodiscard]] std::vector<std::uint32_t> grouped(int neighbours, bool aligned) const;
  [[nodiscard]] static constexpr std::size_t parts(int neighbours) {
    return neighbours == 2 ? 2 : 3;
  }
  [[nodiscard]] int group_count(int neighbours, bool aligned) const {
    return (count + (aligned ? 2 : 1) * (neighbours - 1)) / neighbours;
  }
};

// The weights of taps in groups.
struct ResizeTables {
  ResizeTables() = default;
  ResizeTables(const ResizeTaps& taps, bool along_rows)
      : pairs(taps.grouped(2, along_rows)), fours(taps.grouped(4, along_rows)) {}

  [[nodiscard]] const std::uint32_t* of(int neighbours) const {
    return neighbours == 2 ? pairs.data() : fours.data();
  }

  std::vector<std::uint32_t> pairs;
  std::vector<std::uint32_t> fours;
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
