// Every stage there is, and the parameters that shape them, declared once: the command line, its
// help and its checks are made from this.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stages/stage.hpp"

namespace gpufilter {

// An option that shapes the stages of a kind, wherever it stands on the command line.
struct StageParameter {
  std::string option;  // with dashes: "--tile"
  std::vector<std::string> choices;
  std::string default_value;  // shown in the help
  std::string help;
  std::string shapes_value = {};  // the stage's one value that it goes with; empty: all of them
};

// The values given for parameters, by option; those not given are absent.
using ParameterValues = std::map<std::string, std::string>;

// An option that prints what a kind of stage offers instead of filtering: "--list-presets".
struct StageListing {
  std::string option;  // with dashes
  std::string help;
  std::function<std::string()> text;
};

struct StageKind {
  std::string option;                // with dashes: "--blur"
  std::string value_name;            // how the help shows its value: "naive|tiled|auto", "FILE"
  std::vector<std::string> choices;  // what the value can be; empty: any text, which make() checks
  std::string help;
  std::vector<StageParameter> parameters;
  std::vector<StageListing> listings;
  // Makes the stage for one use of the option, reading the file that the value names where it names
  // one. Throws UsageError where value, parameters or file make no sense.
  std::function<std::shared_ptr<const Stage>(const std::string& value, const ParameterValues&)>
      make;
};

[[nodiscard]] const std::vector<StageKind>& stage_catalogue();

}  // namespace gpufilter
