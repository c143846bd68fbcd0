#include "pipeline/run/run_description.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter {

bool depends_on_orientation(const StageChain& chain) {
  return std::any_of(chain.begin(), chain.end(),
                     [](const auto& stage) { return stage->traits().turns_upright; });
}

bool change_nothing(const LoweredChain& stages, PictureShape shape) {
  const auto is_idle = [&shape](const auto& step) {
    const PictureShape before = std::exchange(shape, step->output(shape));
    return step->properties({before}).changes_nothing;
  };
  return std::ranges::all_of(stages, [&](const LoweredStage& stage) {
    return !stage.demand && std::ranges::all_of(stage.steps, is_idle);
  });
}

LoweredChain lower_for(const StageChain& chain, const std::string& name,
                       const PictureHeader& header, int orientation,
                       std::vector<ChainOutput>& outputs) {
  std::vector<std::size_t> places;
  for (const ChainOutput& output : outputs)
    places.push_back(output.stages);
  PictureContext picture{.shape = {header.size, header.format},
                         .metadata = std::make_shared<Metadata>(header.metadata),
                         .orientation = orientation};
  try {
    LoweredChain lowered = lower_chain(chain, std::move(picture), places);
    for (std::size_t i = 0; i < places.size(); ++i)
      outputs[i].stages = places[i];
    return lowered;
  } catch (const UnusableProfile& error) {
    throw PictureError(name, formatted("the ICC profile {}", error.what()));
  } catch (const RefusedColors& error) {
    throw PictureError(name, error.what());
  } catch (const UnsuitableSize& error) {
    throw PictureError(name, error.what());
  } catch (const UnsuitableFormat& error) {
    throw PictureError(name, error.what());
  }
}

std::shared_ptr<const IccProfile> last_profile(const LoweredChain& chain) {
  std::shared_ptr<const IccProfile> profile;
  for (const auto& stage : chain) {
    if (stage.profile) profile = stage.profile;
  }
  return profile;
}

bool keeps_positions(const LoweredChain& chain, PictureShape shape) {
  return std::ranges::all_of(chain, [&shape](const LoweredStage& stage) {
    const PictureShape before = std::exchange(shape, output_of(stage, shape));
    return shape.size == before.size && (!stage.turn || stage.turn->changes_nothing());
  });
}

EngineReport engine_that_turns() {
  return engine_of_stored("only it turns and trims pictures");
}

EngineReport engine_of_stored(const std::string& account) {
  EngineReport report;
  report.device = "processor";
  report.kind = processor_kind;
  report.reason = account;
  return report;
}

void check_results(const std::string& name, PictureShape shape, const LoweredChain& chain,
                   const ReadLimits& limits) {
  try {
    for (const LoweredStage& stage : chain) {
      if (stage.demand) {
        shape = output_of(stage, shape);
        check_size(name, shape, limits);
      }
      for (const auto& step : stage.steps) {
        shape = step->output(shape);
        check_size(name, shape, limits);
      }
    }
  } catch (const UnsuitableSize& error) {
    throw PictureError(name, error.what());
  }
}

}  // namespace gpufilter
