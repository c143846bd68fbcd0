#include "stages/shared_parameters.hpp"

#include "stages/alpha.hpp"
#include "stages/border.hpp"

namespace gpufilter {

StageParameter border_parameter() {
  return {.option = "--border",
          .type = OneOf{{{"replicate", Border::replicate},
                         {"mirror", Border::mirror},
                         {"wrap", Border::wrap},
                         {"constant", Border::constant}}},
          .default_value = "replicate",
          .help =
              "what lies outside the picture: the nearest pixel, the reflection about it, the "
              "opposite side, or opaque black"};
}

StageParameter alpha_parameter() {
  return {
      .option = "--alpha",
      .type = OneOf{{{"weighted", AlphaMode::weighted}, {"independent", AlphaMode::independent}}},
      .default_value = "weighted",
      .help = "weight colours by their alpha, or treat all channels alike"};
}

}  // namespace gpufilter
