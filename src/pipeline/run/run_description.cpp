#include "pipeline/run/run_description.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter {

LoweredChain LoweredTree::to(const ChainOutput& output) const {
  LoweredChain chain = part_of(main, 0, output.stages);
  if (output.branch) {
    const LoweredChain& branch = branches.at(*output.branch);
    chain.insert(chain.end(), branch.begin(), branch.end());
  }
  return chain;
}

StageChain chain_to(const ChainOutput& output, const StageChain& chain,
                    const std::vector<StageChain>& branches) {
  StageChain stages(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(output.stages));
  if (output.branch) {
    const StageChain& branch = branches.at(*output.branch);
    stages.insert(stages.end(), branch.begin(), branch.end());
  }
  return stages;
}

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

namespace {

// The first output of each branch.
std::vector<const ChainOutput*> branch_outputs(const std::vector<ChainOutput>& outputs,
                                               std::size_t branches) {
  std::vector<const ChainOutput*> found(branches);
  for (const ChainOutput& output : outputs) {
    if (output.branch && found.at(*output.branch) == nullptr) found[*output.branch] = &output;
  }
  return found;
}

void refuse_demands(const LoweredChain& branch) {
  for (const LoweredStage& stage : branch) {
    if (!stage.demand) continue;
    throw UsageError(formatted(
        "--{}: needs the whole picture first, and so cannot follow --sizes; put it before --sizes",
        stage.title.name));
  }
}

}  // namespace

LoweredTree lower_for(const StageChain& chain, const std::vector<StageChain>& branches,
                      const PictureInput& input, std::vector<ChainOutput>& outputs) {
  LoweredTree tree;
  for (const ChainOutput* output : branch_outputs(outputs, branches.size())) {
    LoweredChain& branch = tree.branches.emplace_back();
    if (output == nullptr) continue;
    std::vector<ChainOutput> place{*output};
    branch = lower_for(chain_to(*output, chain, branches), input.name(), input.header(),
                       input.orientation(), place);
    branch = part_of(branch, place.front().stages, branch.size());
    refuse_demands(branch);
  }
  tree.main = lower_for(chain, input.name(), input.header(), input.orientation(), outputs);
  return tree;
}

void lower_for_smaller(LoweredTree& tree, const std::vector<ChainOutput>& outputs,
                       const PictureInput& input, const PictureShape& whole, int divisor) {
  for (const ChainOutput* output : branch_outputs(outputs, tree.branches.size())) {
    if (output == nullptr) continue;
    PictureShape shape = whole;
    LoweredChain chain = tree.to(*output);
    if (count_turns(chain, shape) < output->stages) continue;
    lower_for_smaller(chain, whole, input.shape(), divisor);
    tree.branches[*output->branch] = part_of(chain, output->stages, chain.size());
  }
  lower_for_smaller(tree.main, whole, input.shape(), divisor);
}

void lower_branches_again(LoweredTree& tree, const std::vector<ChainOutput>& outputs,
                          std::size_t first, const PictureShape& source) {
  for (const ChainOutput* output : branch_outputs(outputs, tree.branches.size())) {
    if (output == nullptr || output->stages < first) continue;
    lower_again(tree.branches[*output->branch], 0,
                output_of(part_of(tree.main, first, output->stages), source));
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
