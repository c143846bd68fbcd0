#include "app/stage_options.hpp"

#include <algorithm>
#include <cstddef>

#include "app/foreign_words.hpp"
#include "app/parse.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "stages/linear.hpp"

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
  if (file != nullptr && !file->extension.empty()) suggestions.extensions = {file->extension};
  return suggestions;
}

// Of its values, with the default.
std::string parameter_form(const StageParameter& parameter) {
  if (std::holds_alternative<NoValue>(parameter.type)) return "";
  return formatted("{} [{}]", value_form(parameter.type), parameter.default_value);
}

// An option and its value, if it has one, as the user wrote them.
std::string written(const std::string& option, const std::string& value) {
  return value.empty() ? option : option + " " + printable(value);
}

void keep(GivenParameters& given, const std::string& parameter, const std::string& value,
          const std::string& reason) {
  const auto [known, is_first] = given.emplace(parameter, value);
  if (is_first) return;
  throw UsageError(formatted("{} and {}: {}", written(parameter, known->second),
                             written(parameter, value), reason));
}

}  // namespace

// A stage as written, with the parameters after it.
struct StageOptions::StageUse {
  const StageKind* kind;
  std::string value;
  GivenParameters parameters = {};

  [[nodiscard]] bool takes(const std::string& parameter) const {
    return kind->takes(value, parameter);
  }
  [[nodiscard]] std::string words() const { return written(kind->option, value); }
};

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
          with_meanings(formatted("{} With {}.", parameter.help, takers(parameter.option)),
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
  const auto check = [this, option, &type](const std::string& text) {
    const std::string advice = advice_for_number(option, text);
    if (!advice.empty()) throw UsageError(formatted("{}: {}", written(option, text), advice));
    OptionValues().set(option, type, is_option(app_, text) ? "" : text);
    return std::string();
  };
  app_.add_option(option, values_[option], help)
      ->one_value_each()
      ->check(check)
      ->option_text(form)
      ->suggests(suggestions_for(type))
      ->group(group);
}

void StageOptions::add_listing(const StageListing& listing) {
  const auto print = [&listing] {
    print_result(listing.text());
    throw NothingLeftToDo();
  };
  app_.add_flag_callback(listing.option, print, listing.help)->group(stage_group);
}

const StageKind* StageOptions::find_kind(const std::string& option) const {
  const auto found =
      std::find_if(catalogue_.begin(), catalogue_.end(),
                   [&option](const StageKind& kind) { return kind.option == option; });
  return found == catalogue_.end() ? nullptr : &*found;
}

// "--blur tiled", "--blur or --sharpen".
std::string StageOptions::takers(const std::string& parameter) const {
  std::vector<std::string> words;
  for (const StageKind& kind : catalogue_) {
    for (const StageParameter& known : kind.parameters) {
      if (known.option != parameter) continue;
      words.push_back(kind.option + (known.only_with.empty() ? "" : " " + known.only_with));
    }
  }
  return enumerated(words, "or");
}

void StageOptions::give(StageUse& use, const std::string& parameter,
                        const std::string& value) const {
  if (!use.takes(parameter)) {
    throw UsageError(formatted("{}: {} does not take it; it goes after {}",
                               written(parameter, value), use.words(), takers(parameter)));
  }
  keep(use.parameters, parameter, value, use.words() + " takes only one");
}

void StageOptions::hand_out(const GivenParameters& defaults, std::vector<StageUse>& uses) const {
  for (const auto& [parameter, value] : defaults) {
    bool taken = false;
    for (StageUse& use : uses) {
      if (!use.takes(parameter)) continue;
      use.parameters.emplace(parameter, value);  // the stage's own value stays
      taken = true;
    }
    if (taken) continue;
    throw UsageError(formatted("{}: no stage here takes it; it goes with {}",
                               written(parameter, value), takers(parameter)));
  }
}

StageChain StageOptions::chain() const {
  GivenParameters defaults;
  std::vector<StageUse> uses;
  std::map<std::string, std::size_t> seen;
  for (const Option* option : app_.parse_order()) {
    const std::string name = option->name();
    if (values_.count(name) == 0) continue;
    const std::string& value = values_.at(name).at(seen[name]++);
    if (const StageKind* kind = find_kind(name)) {
      uses.push_back({kind, value});
    } else if (uses.empty()) {
      keep(defaults, name, value, "only one can be the default for the stages");
    } else {
      give(uses.back(), name, value);
    }
  }
  hand_out(defaults, uses);
  StageChain chain;
  for (const StageUse& use : uses)
    chain.push_back(use.kind->make(use.value, use.parameters));
  return with_light_ends(std::move(chain));
}

}  // namespace gpufilter
