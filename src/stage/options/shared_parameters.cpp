#include "stage/options/shared_parameters.hpp"

#include "stage/border.hpp"

namespace gpufilter {
namespace {

// The offset of the inner side in the outer one: at side 0 (the low end), 1 (the middle) or 2 (the
// high end). An odd pixel goes to the high end.
int along(int inner, int outer, int side, int offset) {
  const int rest = outer - inner;
  if (side == 0) return offset;
  if (side == 2) return rest - offset;
  return rest / 2 - (rest < 0 && rest % 2 != 0 ? 1 : 0) + offset;
}

}  // namespace

PixelPosition placed(ImageSize inner, ImageSize outer, Gravity gravity, PixelPosition offset) {
  const int place = static_cast<int>(gravity) - static_cast<int>(Gravity::northwest);
  return {along(inner.width, outer.width, place % 3, offset.x),
          along(inner.height, outer.height, place / 3, offset.y)};
}

StageParameter border_parameter() {
  return {.option = "--border",
          .type = OneOf{{{"replicate", Border::replicate, "the nearest pixel, aaa|abcd|ddd"},
                         {"mirror", Border::mirror,
                          "the reflection about the outermost pixel, dcb|abcd|cba"},
                         {"wrap", Border::wrap, "the opposite side, bcd|abcd|abc"},
                         {"constant", Border::constant, "opaque black"}}},
          .default_value = "replicate",
          .help = "What lies outside the picture."};
}

StageParameter alpha_parameter() {
  return {
      .option = "--alpha",
      .type = OneOf{{{"weighted", AlphaMode::weighted, "colours are weighted by their alpha"},
                     {"independent", AlphaMode::independent, "all channels are treated alike"}}},
      .default_value = "weighted",
      .help = "Whether colours are weighted by alpha."};
}

StageParameter gravity_parameter() {
  return {.option = "--gravity",
          .type = OneOf{{{"auto", Gravity::automatic,
                          "the middle; with --crop WxH+X+Y the top left corner"},
                         {"northwest", Gravity::northwest, "the top left corner"},
                         {"north", Gravity::north, "the middle of the top edge"},
                         {"northeast", Gravity::northeast, "the top right corner"},
                         {"west", Gravity::west, "the middle of the left edge"},
                         {"center", Gravity::center, "the middle"},
                         {"east", Gravity::east, "the middle of the right edge"},
                         {"southwest", Gravity::southwest, "the bottom left corner"},
                         {"south", Gravity::south, "the middle of the bottom edge"},
                         {"southeast", Gravity::southeast, "the bottom right corner"}},
                        "POSITION"},
          .default_value = "auto",
          .help = "Where the smaller rectangle is placed in the larger one."};
}

Gravity gravity_of(const OptionValues& values, Gravity automatic) {
  const auto gravity = values.choice<Gravity>("--gravity");
  return gravity == Gravity::automatic ? automatic : gravity;
}

}  // namespace gpufilter
