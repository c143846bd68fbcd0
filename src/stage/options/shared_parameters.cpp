#include "stage/options/shared_parameters.hpp"

#include "stage/alpha.hpp"
#include "stage/border.hpp"

namespace gpufilter {

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
