#include "stages/catalogue.hpp"

#include "stages/blur.hpp"
#include "stages/color.hpp"
#include "stages/levels.hpp"
#include "stages/mlp.hpp"
#include "stages/tonemap.hpp"

namespace gpufilter {

const std::vector<StageKind>& stage_catalogue() {
  static const std::vector<StageKind> catalogue{blur_stage_kind(), color_stage_kind(),
                                                mlp_stage_kind(), levels_stage_kind(),
                                                tonemap_stage_kind()};
  return catalogue;
}

}  // namespace gpufilter
