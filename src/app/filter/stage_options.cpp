#include "app/filter/stage_options.hpp"

#include <algorithm>
#include <cstddef>

#include "app/cli/foreign_words.hpp"
#include "app/cli/parse.hpp"
#include "app/filter/format_options.hpp"
#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

constexpr const char* stage_group = "Stages";
constexpr const char* parameter_group = "Parameters, after their stage or before all stages";

// The parser takes any word after an option as its value, even the next option.
bool is_option(const Arguments& app, const std::string& text) {
  return text.starts_with('-') && app.find(text.substr(0, text.find('='))) != nullptr;
}

// The help of an option with a line for each of its values.
std::string with_meanings(std::string help, const ValueType& type) {
  for (const auto& [form, meaning] : value_meanings(type)) {
    if (!meaning.empty()) help += formatted("\n{}: {}", form, meaning);
  }
  return help;
}

Suggestions suggestions_for(const ValueType& type) {
  Suggestions suggestions{.words = value_words(type)};
  if (may_be_file(type)) suggestions.files = Suggestions::Files::all;
  const auto* file = std::get_if<FileName>(&type);
  if (file == nullptr || file->extension.empty()) return suggestions;
  // Values that may be a PNG may be any picture.
  Suggestions pictures = picture_files();
  const auto& known = pictures.extensions;
  if (std::find(known.begin(), known.end(), file->extension) != known.end()) return pictures;
  suggestions.extensions = {file->extension};
  return suggestions;
}

// The form of the parameter's values, with the default.
std::string parameter_form(const StageParameter& parameter) {
  if (std::holds_alternative<NoValue>(parameter.type)) return "";
  return formatted("{} [{}]", value_form(parameter.type), parameter.default_value);
}

}  // namespace

StageOptions::StageOptions(Arguments& app, const std::vector<StageKind>& catalogue)
    : app_(app), catalogue_(catalogue) {
  for (const StageKind& kind : catalogue) {
    add(kind.option, kind.type, value_form(kind.type), with_meanings(kind.help, kind.type),
        stage_group);
    for (const StageListing& listing : kind.listings)
      add_listing(listing);
  }
  for (const StageKind& kind : catalogue) {
    for (const StageParameter& parameter : kind.parameters) {
      if (values_.count(parameter.option) > 0) continue;  // shared, and already here
      add(parameter.option, parameter.type, parameter_form(parameter),
          with_meanings(
              formatted("{} With {}.", parameter.help, takers_of(catalogue, parameter.option)),
              parameter.type),
          parameter_group);
    }
  }
}

void StageOptions::add(const std::string& option, const ValueType& type, const std::string& form,
                       const std::string& help, const char* group) {
  if (std::holds_alternative<NoValue>(type)) {
    const auto take = [&given = values_[option]] { given.emplace_back(); };
    app_.add_repeatable_flag(option, take, help)->group(group);
    return;
  }
  const auto check = [this, option](const std::string& text) {
    const std::string advice = advice_for_value(option, text);
    if (!advice.empty()) throw UsageError(formatted("{}: {}", written(option, text), advice));
    const ValueType& type = *option_type(option, text, catalogue_);
    OptionValues().set(option, type, is_option(app_, text) ? "" : text);
    return std::string();
  };
  Suggestions suggestions = suggestions_for(type);
  // A parameter of the same name has its own values.
  if (const ValueType* other = option_type(option, "", catalogue_); other != &type) {
    for (std::string& word : value_words(*other))
      suggestions.words.push_back(std::move(word));
  }
  app_.add_option(option, values_[option], help)
      ->one_value_each()
      ->check(check)
      ->option_text(form)
      ->suggests(std::move(suggestions))
      ->group(group);
}

void StageOptions::add_listing(const StageListing& listing) {
  const auto print = [&listing] {
    print_result(listing.text());
    throw NothingLeftToDo();
  };
  app_.add_flag_callback(listing.option, print, listing.help)->group(stage_group);
}

std::vector<GivenStage> StageOptions::given() const {
  std::vector<GivenOption> given;
  std::map<std::string, std::size_t> seen;
  for (const Option* option : app_.parse_order()) {
    const std::string name = option->name();
    if (values_.count(name) > 0) given.emplace_back(name, values_.at(name).at(seen[name]++));
  }
  return given_stages(given, catalogue_);
}

StageChain StageOptions::chain(const ReadLimits& limits) const {
  return make_chain(given(), limits);
}

std::vector<StageOptions::Typed> StageOptions::typed() const {
  std::vector<Typed> stages;
  for (const GivenStage& stage : given()) {
    std::vector<std::string> words;
    if (!stage.value.empty()) words.push_back(stage.value);
    for (const auto& [parameter, value] : stage.parameters)
      words.push_back(written(parameter, value));
    stages.push_back({stage.kind->option, formatted("{}", fmt::join(words, " "))});
  }
  return stages;
}

}  // namespace gpufilter
