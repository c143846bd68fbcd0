#include "stage/options/catalogue.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {

bool StageKind::takes(std::string_view value, std::string_view parameter) const {
  return std::any_of(parameters.begin(), parameters.end(), [&](const StageParameter& known) {
    return known.option == parameter && (known.only_with.empty() || known.only_with == value);
  });
}

std::shared_ptr<const Stage> StageKind::make(const std::string& value, const GivenParameters& given,
                                             const ReadLimits& limits) const {
  for (const auto& [parameter, text] : given) {
    if (!takes(value, parameter)) {
      throw UsageError(formatted("{} {}: {} {} does not take it", parameter, text, option, value));
    }
  }
  OptionValues values(limits);
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

const StageKind* find_stage(std::string_view option, const std::vector<StageKind>& kinds) {
  const auto found = std::ranges::find(kinds, option, &StageKind::option);
  return found == kinds.end() ? nullptr : &*found;
}

const ValueType* option_type(std::string_view option) {
  for (const StageKind& kind : stage_catalogue()) {
    if (kind.option == option) return &kind.type;
    const auto own = std::ranges::find(kind.parameters, option, &StageParameter::option);
    if (own != kind.parameters.end()) return &own->type;
  }
  return nullptr;
}

}  // namespace gpufilter
