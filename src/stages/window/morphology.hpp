// --dilate, --erode, --open and --close: the largest and the smallest sample of a square.
#pragma once

#include "stage/border.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

enum class Morphology { dilate, erode, open, close };

struct MorphologyParameters {
  static constexpr int max_radius = 127;

  Morphology operation = Morphology::dilate;
  int radius = 1;  // of a square window: 2 radius + 1 on each side
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
};

[[nodiscard]] std::shared_ptr<const Stage> make_morphology(const MorphologyParameters& parameters);

}  // namespace gpufilter
