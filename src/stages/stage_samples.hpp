// Stages to try: from the catalogue, so that a new stage is verified and tuned by being in it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stages/catalogue.hpp"

namespace gpufilter {

struct StageSample {
  std::string text;  // as on the command line: "--blur tiled --tile 8"
  std::shared_ptr<const Stage> stage;
  bool has_defaults = true;  // every parameter has its default value
};

// The kinds of stages by the names of their options without dashes: "blur". All of them where
// `names` is empty.
[[nodiscard]] std::vector<std::string> stage_names();
[[nodiscard]] std::vector<StageKind> stage_kinds(const std::vector<std::string>& names);

// Of one kind: each of its values (the words it may be, or StageKind::sample_values and
// sample_stages) with parameters. `all`: with every combination of words that they may have;
// otherwise at most one parameter differs from its default, and a range of numbers is tried at its
// ends. The first sample has default parameters.
[[nodiscard]] std::vector<StageSample> samples_of(const StageKind& kind, bool all);

}  // namespace gpufilter
