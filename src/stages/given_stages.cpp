#include "stages/given_stages.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "stages/colour/linear.hpp"

namespace gpufilter {
namespace {

std::string words_of(const GivenStage& stage) {
  return written(stage.kind->option, stage.value);
}

void keep(GivenParameters& given, const GivenOption& option, const std::string& reason) {
  const auto [known, is_first] = given.insert(option);
  if (is_first) return;
  throw UsageError(formatted("{} and {}: {}", written(option.first, known->second),
                             written(option.first, option.second), reason));
}

bool repeats(const StageKind& kind, const std::string& option) {
  const auto found = std::ranges::find(kind.parameters, option, &StageParameter::option);
  return found != kind.parameters.end() && found->repeats;
}

void give(GivenStage& stage, const GivenOption& option, const std::vector<StageKind>& catalogue) {
  if (!stage.kind->takes(stage.value, option.first)) {
    throw UsageError(formatted("{}: {} does not take it; it goes after {}",
                               written(option.first, option.second), words_of(stage),
                               takers_of(catalogue, option.first)));
  }
  const auto known = stage.parameters.find(option.first);
  if (known != stage.parameters.end() && repeats(*stage.kind, option.first)) {
    known->second += " " + option.second;
  } else {
    keep(stage.parameters, option, words_of(stage) + " takes only one");
  }
}

void hand_out(const GivenParameters& defaults, std::vector<GivenStage>& stages,
              const std::vector<StageKind>& catalogue) {
  for (const auto& [parameter, value] : defaults) {
    bool taken = false;
    for (GivenStage& stage : stages) {
      if (!stage.kind->takes(stage.value, parameter)) continue;
      stage.parameters.emplace(parameter, value);  // the stage's own value stays
      taken = true;
    }
    if (taken) continue;
    throw UsageError(formatted("{}: no stage here takes it; it goes with {}",
                               written(parameter, value), takers_of(catalogue, parameter)));
  }
}

}  // namespace

std::string written(const std::string& option, const std::string& value) {
  return value.empty() ? option : option + " " + printable(value);
}

std::string takers_of(const std::vector<StageKind>& catalogue, const std::string& parameter) {
  std::vector<std::string> words;
  for (const StageKind& kind : catalogue) {
    for (const StageParameter& known : kind.parameters) {
      if (known.option != parameter) continue;
      words.push_back(kind.option + (known.only_with.empty() ? "" : " " + known.only_with));
    }
  }
  return enumerated(words, "or");
}

std::vector<GivenStage> given_stages(const std::vector<GivenOption>& options,
                                     const std::vector<StageKind>& catalogue) {
  GivenParameters defaults;
  std::vector<GivenStage> stages;
  for (const GivenOption& option : options) {
    if (const StageKind* kind = requested_stage(option.first, option.second, catalogue)) {
      stages.push_back({kind, option.second});
    } else if (stages.empty()) {
      keep(defaults, option, "only one can be the default for the stages");
    } else {
      give(stages.back(), option, catalogue);
    }
  }
  hand_out(defaults, stages, catalogue);
  return stages;
}

StageChain make_chain(const std::vector<GivenStage>& stages, const ReadLimits& limits) {
  StageChain chain;
  for (const GivenStage& stage : stages)
    chain.push_back(stage.kind->make(stage.value, stage.parameters, limits, stage.files));
  return with_light_ends(std::move(chain));
}

}  // namespace gpufilter
