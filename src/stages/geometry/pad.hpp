// --pad: room around the picture.
#pragma once

#include <optional>

#include "image/color.hpp"
#include "stage/gravity.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// Opaque; nothing: transparent, for which a picture gets alpha if it has none.
using PadColor = std::optional<Color>;

// The parameter --pad-color.
[[nodiscard]] StageParameter pad_color_parameter();
[[nodiscard]] PadColor pad_color_of(const OptionValues& values);

// A picture of `size` in which the source begins at `corner` and lies completely.
[[nodiscard]] std::shared_ptr<const OneStepStage> make_frame(ImageSize size, PixelPosition corner,
                                                             const PadColor& color);

struct PadParameters {
  // Pixels at the top, on the right, at the bottom and on the left; or
  std::array<int, 4> sides{};
  // the size of the result: what is larger is cut off.
  std::optional<ImageSize> size = std::nullopt;
  Gravity gravity = Gravity::center;
  PadColor color = Color{255, 255, 255};
};

[[nodiscard]] std::shared_ptr<const Stage> make_pad(const PadParameters& parameters);

}  // namespace gpufilter
