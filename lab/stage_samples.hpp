// Sample stages from the catalogue: a new stage there is verified and tuned automatically.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stage/options/catalogue.hpp"

namespace gpufilter::lab {

struct StageSample {
  std::string text;  // as on the command line: "--blur tiled --tile 8"
  std::shared_ptr<const Stage> stage;
  bool has_defaults = true;     // every parameter has its default value
  std::string parameters = {};  // the others: " --border wrap --tile 8"
};

// The kinds of stages by the names of their options without dashes: "blur". All of them if `names`
// is empty.
[[nodiscard]] std::vector<std::string> stage_names();
[[nodiscard]] std::vector<StageKind> stage_kinds(const std::vector<std::string>& names);

// Samples of one kind: each of its values (its words, or StageKind::sample_values and
// sample_stages) with parameters. With `all`, every combination of the parameters' words; otherwise
// at most one parameter differs from its default. Of a range of numbers, both ends are tried. The
// first sample has default parameters.
[[nodiscard]] std::vector<StageSample> samples_of(const StageKind& kind, bool all);

}  // namespace gpufilter::lab
