#include "stages/catalogue.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "stages/blur.hpp"
#include "stages/color.hpp"
#include "stages/convert_colors.hpp"
#include "stages/convolve.hpp"
#include "stages/crop.hpp"
#include "stages/denoise.hpp"
#include "stages/depth.hpp"
#include "stages/edges.hpp"
#include "stages/flatten.hpp"
#include "stages/gamma.hpp"
#include "stages/gaussian.hpp"
#include "stages/gray.hpp"
#include "stages/hue.hpp"
#include "stages/invert.hpp"
#include "stages/levels.hpp"
#include "stages/linear.hpp"
#include "stages/lut.hpp"
#include "stages/median.hpp"
#include "stages/mlp.hpp"
#include "stages/morphology.hpp"
#include "stages/net.hpp"
#include "stages/overlay.hpp"
#include "stages/pad.hpp"
#include "stages/resize.hpp"
#include "stages/sharpen.hpp"
#include "stages/tonemap.hpp"
#include "stages/trim.hpp"
#include "stages/turn.hpp"
#include "stages/vibrance.hpp"

namespace gpufilter {

bool StageKind::takes(std::string_view value, std::string_view parameter) const {
  return std::any_of(parameters.begin(), parameters.end(), [&](const StageParameter& known) {
    return known.option == parameter && (known.only_with.empty() || known.only_with == value);
  });
}

std::shared_ptr<const Stage> StageKind::make(const std::string& value,
                                             const GivenParameters& given) const {
  for (const auto& [parameter, text] : given) {
    if (!takes(value, parameter)) {
      throw UsageError(formatted("{} {}: {} {} does not take it", parameter, text, option, value));
    }
  }
  OptionValues values;
  values.set(option, type, value);
  for (const StageParameter& parameter : parameters) {
    const auto own = given.find(parameter.option);
    if (own == given.end() && std::holds_alternative<NoValue>(parameter.type)) continue;
    values.set(parameter.option, parameter.type,
               own == given.end() ? parameter.default_value : own->second);
  }
  return from_options(values);
}

const std::vector<StageKind>& stage_catalogue() {
  // A line for each.
  // clang-format off
  static const std::vector<StageKind> catalogue{
      blur_stage_kind(),
      gaussian_stage_kind(),
      sharpen_stage_kind(),
      median_stage_kind(),
      dilate_stage_kind(),
      erode_stage_kind(),
      open_stage_kind(),
      close_stage_kind(),
      edges_stage_kind(),
      denoise_stage_kind(),
      convolve_stage_kind(),
      color_stage_kind(),
      mlp_stage_kind(),
      net_stage_kind(),
      levels_stage_kind(),
      tonemap_stage_kind(),
      lut_stage_kind(),
      gray_stage_kind(),
      hue_stage_kind(),
      vibrance_stage_kind(),
      gamma_stage_kind(),
      invert_stage_kind(),
      flatten_stage_kind(),
      depth_stage_kind(),
      linear_stage_kind(),
      encoded_stage_kind(),
      to_srgb_stage_kind(),
      profile_stage_kind(),
      crop_stage_kind(),
      trim_stage_kind(),
      pad_stage_kind(),
      overlay_stage_kind(),
      resize_stage_kind(),
      rotate_stage_kind(),
      flip_stage_kind(),
      flop_stage_kind(),
      auto_orient_stage_kind(),
  };
  // clang-format on
  return catalogue;
}

}  // namespace gpufilter
