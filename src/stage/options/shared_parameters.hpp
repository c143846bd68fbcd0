// The parameters that several kinds of stages may take, each declared once.
#pragma once

#include "image/rows.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// The position of a rectangle in a larger one.
enum class Gravity {
  automatic,  // what the stage is for
  northwest,
  north,
  northeast,
  west,
  center,
  east,
  southwest,
  south,
  southeast
};

// The top left pixel of a rectangle of size `inner` in one of size `outer`. `offset` moves it
// inwards from an edge that it is at, otherwise to the right and down. The inner rectangle may be
// the larger one, and lie partly outside. `gravity` must not be automatic.
[[nodiscard]] PixelPosition placed(ImageSize inner, ImageSize outer, Gravity gravity,
                                   PixelPosition offset = {});

// The parameter --border; its value is a Border.
[[nodiscard]] StageParameter border_parameter();

// The parameter --alpha; its value is an AlphaMode.
[[nodiscard]] StageParameter alpha_parameter();
[[nodiscard]] StageParameter gravity_parameter();

// The value of --gravity; `automatic` replaces its default.
[[nodiscard]] Gravity gravity_of(const OptionValues& values, Gravity automatic);

}  // namespace gpufilter
