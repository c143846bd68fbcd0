#include "pipeline/run/upright.hpp"

#include <algorithm>

#include "stage/options/catalogue.hpp"

namespace gpufilter {

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
    const StageTraits traits = stage->traits();
    return rule == OrientationRule::apply || traits.has_up || traits.turns_upright;
  };
  const auto place = std::find_if(chain.begin(), chain.end(), asks);
  const bool at_end = place == chain.end();
  if (at_end ? rule == OrientationRule::automatic : (*place)->traits().turns_upright) return;
  const auto stages = static_cast<std::size_t>(place - chain.begin());
  for (ChainOutput& output : outputs) {
    if (output.stages > stages || rule == OrientationRule::apply) ++output.stages;
  }
  chain.insert(place, auto_orient_stage_kind().make(""));
}

}  // namespace gpufilter
