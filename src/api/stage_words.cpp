#include <cstddef>
#include <variant>

#include "api/filter_state.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "stage/options/recipe.hpp"
#include "stages/given_stages.hpp"

namespace gpufilter {
namespace {

const std::string dashes = "--";

[[noreturn]] void refuse(const std::string& word, const std::string& option) {
  std::vector<std::string> known;
  for (const StageKind& kind : stage_catalogue()) {
    known.push_back(kind.option);
    for (const StageParameter& parameter : kind.parameters)
      known.push_back(parameter.option);
  }
  const auto near = words_like(option, known);
  const std::string advice =
      near.empty() ? "" : formatted("; did you mean {}?", fmt::join(near, " or "));
  throw UsageError(
      formatted("{}: neither a stage nor a parameter of one{}", printable(word), advice));
}

// The options that the words are, each with its value.
std::vector<GivenOption> options_in(const std::vector<PlacedWord>& words) {
  std::vector<GivenOption> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    const std::size_t equals = word.find('=');
    const std::string option = word.substr(0, equals);
    const ValueType* type = option_type(option);
    if (type == nullptr) refuse(word, option);
    std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const bool takes_value = !std::holds_alternative<NoValue>(*type);
    const bool follows = i + 1 < words.size() && option_type(words[i + 1].text) == nullptr;
    if (takes_value && equals == std::string::npos && follows) value = words[++i].text;
    // As early as the place of the word is known.
    OptionValues().set(option, *option_type(option, value), value);
    options.emplace_back(option, std::move(value));
  }
  return options;
}

}  // namespace

std::vector<StageUse> parse_stages(const std::vector<std::string>& words) {
  const std::vector<PlacedWord> placed = with_recipes(words);
  try {
    std::vector<StageUse> uses;
    for (const GivenStage& stage : given_stages(options_in(placed), stage_catalogue())) {
      StageUse use{stage.kind->option.substr(dashes.size()), stage.value};
      for (const auto& [parameter, value] : stage.parameters)
        use.parameters.emplace(parameter.substr(dashes.size()), value);
      uses.push_back(std::move(use));
    }
    return uses;
  } catch (const UsageError& error) {
    throw UsageError(with_place(placed, error.what()));
  }
}

std::vector<StageUse> parse_stages(std::string_view words) {
  std::vector<std::string> all;
  for (RecipeWord& word : recipe_words(words, "stages"))
    all.push_back(std::move(word.text));
  return parse_stages(all);
}

StageChain chain_of(const std::vector<StageUse>& uses, const ReadLimits& limits) {
  std::vector<GivenStage> stages;
  for (const StageUse& use : uses) {
    const StageKind* kind = find_stage(dashes + use.name);
    if (kind == nullptr) throw UsageError(formatted("'{}' is not a stage", use.name));
    GivenStage& stage = stages.emplace_back(GivenStage{kind, use.value});
    for (const auto& [name, value] : use.parameters)
      stage.parameters.emplace(dashes + name, value);
  }
  return make_chain(stages, limits);
}

std::vector<StageDescription> stage_descriptions() {
  std::vector<StageDescription> stages;
  for (const StageKind& kind : stage_catalogue()) {
    StageDescription& stage = stages.emplace_back(
        StageDescription{kind.option.substr(dashes.size()), value_form(kind.type), kind.help, {}});
    for (const StageParameter& parameter : kind.parameters) {
      stage.parameters.push_back({parameter.option.substr(dashes.size()),
                                  value_form(parameter.type), parameter.default_value,
                                  parameter.help});
    }
  }
  return stages;
}

}  // namespace gpufilter
