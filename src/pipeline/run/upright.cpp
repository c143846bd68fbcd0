#include "pipeline/run/upright.hpp"

#include <algorithm>

#include "stage/has_up.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {
namespace {

bool has_up(const Stage& stage) {
  const auto* own = dynamic_cast<const HasUp*>(&stage);
  return own != nullptr && own->has_up();
}

}  // namespace

const std::vector<std::pair<std::string, OrientationRule>>& orientation_rules() {
  static const std::vector<std::pair<std::string, OrientationRule>> rules{
      {"auto", OrientationRule::automatic},
      {"apply", OrientationRule::apply},
      {"keep", OrientationRule::keep}};
  return rules;
}

void add_upright_stage(StageChain& chain, OrientationRule rule, std::vector<ChainOutput>& outputs) {
  if (rule == OrientationRule::keep) return;
  const auto asks = [&](const auto& stage) {
    return rule == OrientationRule::apply || has_up(*stage) || stage->for_orientation(1);
  };
  const auto place = std::find_if(chain.begin(), chain.end(), asks);
  const bool at_end = place == chain.end();
  if (at_end ? rule == OrientationRule::automatic : (*place)->for_orientation(1) != nullptr) return;
  const auto stages = static_cast<std::size_t>(place - chain.begin());
  for (ChainOutput& output : outputs) {
    if (output.stages > stages || rule == OrientationRule::apply) ++output.stages;
  }
  chain.insert(place, auto_orient_stage_kind().make(""));
}

}  // namespace gpufilter
