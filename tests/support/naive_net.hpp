// ONNX operators on whole pictures by plain loops, from their definitions.
#pragma once

#include "net/net_planes.hpp"
#include "stage/border.hpp"
#include "support/onnx_sketch.hpp"

namespace gpufilter::test {

// The channels of one value, plane after plane.
struct NaivePlanes {
  int channels = 0;
  int width = 0;
  int height = 0;
  std::vector<float> numbers = {};
  float outside = 0;  // what a constant border means

  NaivePlanes() = default;
  NaivePlanes(int planes, int w, int h)
      : channels(planes),
        width(w),
        height(h),
        numbers(static_cast<std::size_t>(planes) * static_cast<std::size_t>(w) *
                static_cast<std::size_t>(h)) {}
  [[nodiscard]] float& at(int c, int x, int y) {
    return numbers.at((static_cast<std::size_t>(c) * static_cast<std::size_t>(height) +
                       static_cast<std::size_t>(y)) *
                          static_cast<std::size_t>(width) +
                      static_cast<std::size_t>(x));
  }
  // At any distance outside.
  [[nodiscard]] float padded(int c, int x, int y, Border border) const;
};

// "y" of the network. Quantized values hold the numbers of ONNX, with their zero points.
[[nodiscard]] NaivePlanes evaluate(const OnnxSketch& sketch, const NaivePlanes& x, Border border);

// What --net makes of a picture, with this frame along both axes and this size of the result; 0: as
// large as the network's.
[[nodiscard]] Image naive_net(const Image& image, const OnnxSketch& net, const NetUse& use,
                              const NetFrame& frame = {}, int scale = 0);

}  // namespace gpufilter::test
