// What `gpufilter verify` tries.
#pragma once

#include <string>
#include <vector>

#include "image/image.hpp"
#include "pipeline/plan.hpp"

namespace gpufilter {

struct VerifyChain {
  std::string text;  // as on the command line
  StageChain chain;
  bool every_candidate = false;  // of its kernels, not only the usual one
};

// Every sample of the kinds of stages of these names (all where there is none), then, unless
// `quick`, every kind followed by every other, as stages that follow each other may share a kernel.
[[nodiscard]] std::vector<VerifyChain> verify_chains(const std::vector<std::string>& stages,
                                                     bool quick);

[[nodiscard]] std::vector<PixelFormat> verify_formats(bool quick);

// Odd, tiny and wider than several work-groups.
[[nodiscard]] std::vector<ImageSize> verify_sizes(bool quick);

// Heights of bands for a result of `height` rows, the whole first.
[[nodiscard]] std::vector<int> verify_bands(int height, bool quick);

// Random samples with extremes among them, areas that are opaque and areas without any opacity; the
// same for the same shape.
[[nodiscard]] Image verify_picture(const PictureShape& shape);

}  // namespace gpufilter
