#include "stages/shared_parameters.hpp"

#include "stages/alpha.hpp"
#include "stages/border.hpp"

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
      .help = "How colours and alpha are mixed."};
}

}  // namespace gpufilter
