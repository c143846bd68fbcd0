// Every stage there is, and the parameters it takes, declared once: the command line, its help and
// its checks are made from this.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stages/option_values.hpp"
#include "stages/stage.hpp"

namespace gpufilter {

// An option that belongs to the stage before it. One that several kinds of stages take has the same
// declaration in all of them (shared_parameters.hpp).
struct StageParameter {
  std::string option;  // with dashes: "--tile"
  ValueType type;
  std::string default_value;   // as text
  std::string help;            // sentences, as StageKind::help
  std::string only_with = {};  // the one value of the stage that it goes with; empty: every value
  bool operator==(const StageParameter&) const = default;
};

// The parameters given for one stage: texts by option.
using GivenParameters = std::map<std::string, std::string>;

// An option that prints what a kind of stage offers instead of filtering: "--list-presets".
struct StageListing {
  std::string option;  // with dashes
  std::string help;
  std::function<std::string()> text;
};

struct StageKind {
  std::string option;  // with dashes: "--blur"
  ValueType type;
  std::string help;  // what it does, in sentences; the first one stands alone in short lists
  std::vector<StageParameter> parameters = {};
  std::vector<StageListing> listings = {};
  // More for its page, "gpufilter help blur": how a sample is computed, what happens at the
  // picture's edges and to alpha, and command lines without the program's name.
  std::string formula = {};
  std::string edges = {};
  std::string alpha = {};
  std::vector<std::string> examples = {};
  // Makes a stage from the values of its option and of all its parameters, reading the file that
  // its option names where it names one. Throws UsageError where they make no sense.
  std::function<std::shared_ptr<const Stage>(const OptionValues&)> from_options = {};

  // Whether the stage takes a parameter when its own option has this value.
  [[nodiscard]] bool takes(std::string_view value, std::string_view parameter) const;

  // The stage for one use of the option; parameters that are not given have their default values.
  // Throws UsageError where a value is not what was declared, or not taken.
  [[nodiscard]] std::shared_ptr<const Stage> make(const std::string& value,
                                                  const GivenParameters& given = {}) const;
};

[[nodiscard]] const std::vector<StageKind>& stage_catalogue();

}  // namespace gpufilter
