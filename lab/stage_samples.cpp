#include "lab/stage_samples.hpp"

#include <algorithm>

#include "base/format.hpp"

namespace gpufilter::lab {
namespace {

// Values worth trying, the default first.
std::vector<std::string> values_of(const ValueType& type, const std::string& first) {
  std::vector<std::string> values;
  if (!first.empty()) values.push_back(first);
  const auto add = [&](std::string value) {
    if (value != first) values.push_back(std::move(value));
  };
  if (const auto* words = std::get_if<OneOf>(&type)) {
    for (const Choice& choice : words->choices)
      add(choice.word);
  } else if (const auto* number = std::get_if<NumberIn>(&type)) {
    add(formatted("{}", number->low));
    add(formatted("{}", number->high));
  } else if (std::holds_alternative<NoValue>(type)) {
    values.emplace_back();
  }
  return values;
}

// All combinations, or those that differ from the first in at most one parameter.
std::vector<GivenParameters> combinations(const StageKind& kind, const std::string& value,
                                          bool all) {
  std::vector<GivenParameters> found{{}};
  for (const StageParameter& parameter : kind.parameters) {
    if (!kind.takes(value, parameter.option)) continue;
    const std::vector<std::string> values = values_of(parameter.type, parameter.default_value);
    const std::size_t before = all ? found.size() : 1;
    for (std::size_t i = 0; i < before; ++i) {
      for (std::size_t v = 1; v < values.size(); ++v) {
        GivenParameters more = found[i];
        more[parameter.option] = values[v];
        found.push_back(std::move(more));
      }
    }
  }
  return found;
}

std::string text_of(const GivenParameters& given) {
  std::string text;
  for (const auto& [option, word] : given)
    text += formatted(" {} {}", option, word);
  return text;
}

std::string text_of(const StageKind& kind, const std::string& value, const GivenParameters& given) {
  const char* quote = value.find(' ') != std::string::npos ? "\"" : "";
  std::string text = kind.option;
  if (!value.empty()) text += formatted(" {}{}{}", quote, value, quote);
  return text + text_of(given);
}

}  // namespace

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const StageKind& kind : stage_catalogue())
    names.push_back(kind.option.substr(2));
  return names;
}

std::vector<StageKind> stage_kinds(const std::vector<std::string>& names) {
  std::vector<StageKind> kinds;
  for (const StageKind& kind : stage_catalogue()) {
    const auto found = std::find(names.begin(), names.end(), kind.option.substr(2));
    if (names.empty() || found != names.end()) kinds.push_back(kind);
  }
  return kinds;
}

std::vector<StageSample> samples_of(const StageKind& kind, bool all) {
  std::vector<StageSample> samples;
  if (kind.sample_stages) {
    for (auto& [name, stage] : kind.sample_stages())
      samples.push_back({formatted("{} {}", kind.option, name), std::move(stage)});
  }
  const std::vector<std::string> values =
      kind.sample_values.empty() ? values_of(kind.type, "") : kind.sample_values;
  for (const std::string& value : values) {
    for (const GivenParameters& given : combinations(kind, value, all))
      samples.push_back(
          {text_of(kind, value, given), kind.make(value, given), given.empty(), text_of(given)});
  }
  return samples;
}

}  // namespace gpufilter::lab
