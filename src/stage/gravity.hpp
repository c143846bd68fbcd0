// Where a rectangle lies in a larger one.
#pragma once

#include "image/rows.hpp"

namespace gpufilter {

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
// inwards from an edge that it is at, otherwise to the right and down. It may be the larger one,
// and lie partly outside. `gravity` is not automatic.
[[nodiscard]] PixelPosition placed(ImageSize inner, ImageSize outer, Gravity gravity,
                                   PixelPosition offset = {});

}  // namespace gpufilter
