#include <algorithm>
#include <array>
#include <cstddef>
#include <variant>

#include "api/filter_state.hpp"
#include "api/library_words.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "codec/codec_table.hpp"
#include "stage/options/recipe.hpp"
#include "stages/given_stages.hpp"

namespace gpufilter {
namespace {

const std::string dashes = "--";

// Recipes of the command line may hold these.
bool is_about_outputs(const std::string& option) {
  static constexpr std::array others{"--to",     "--output", "--name",    "--on-exists",
                                     "--device", "--jobs",   "--threads", "--recursive"};
  const auto formats = all_write_options();
  return std::ranges::find(others, option) != others.end() ||
         std::ranges::any_of(
             formats, [&](const WriteOption* known) { return dashes + known->name == option; });
}

[[noreturn]] void refuse(const std::string& word, const std::string& option) {
  if (is_about_outputs(option)) {
    throw UsageError(
        formatted("{}: an option of outputs, not a stage; the functions that write them take it as "
                  "an argument",
                  printable(word)));
  }
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
    // Checked here, while the word's position is still known.
    OptionValues().set(option, *option_type(option, value), value);
    options.emplace_back(option, std::move(value));
  }
  return options;
}

// Translates "yes" or "no", which mean a boolean here, into the stage's or parameter's own words.
std::string switched(const ValueType& type, const std::string& value) {
  const bool is_on = value == "yes";
  if (!is_on && value != "no") return value;
  if (std::holds_alternative<NumberIn>(type)) return is_on ? "1" : "0";
  const auto* words = std::get_if<OneOf>(&type);
  const bool has_on =
      words != nullptr &&
      std::ranges::any_of(words->choices, [](const Choice& choice) { return choice.word == "on"; });
  return !has_on ? value : is_on ? "on" : "off";
}

// A parameter that no stage takes is refused by the stage itself.
std::string switched(const std::string& parameter, const std::string& value) {
  const ValueType* type = option_type(parameter);
  return type == nullptr ? value : switched(*type, value);
}

// The file that a stage holds as its own value.
InputFile input_file(const StageKind& kind, const std::string& name, const StageFile& file) {
  if (dashes + name != kind.option)
    throw UsageError(formatted("{}: only {} itself can hold a file", printable(name),
                               kind.option.substr(dashes.size())));
  if (!file.bytes()) return file.path();
  return {name + " in memory", file.bytes()};
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
    if (kind == nullptr) throw UsageError(formatted("'{}' is not a stage", printable(use.name)));
    refuse_nul({use.value});
    GivenStage& stage = stages.emplace_back(GivenStage{kind, switched(kind->type, use.value)});
    for (const auto& [name, file] : use.files)
      stage.files.emplace(dashes + name, input_file(*kind, name, file));
    for (const auto& [name, value] : use.parameters) {
      refuse_nul({name, value});
      stage.parameters.emplace(dashes + name, switched(dashes + name, value));
    }
  }
  return in_library_words([&] { return make_chain(stages, limits); });
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
