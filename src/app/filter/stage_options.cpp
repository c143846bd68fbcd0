#include "app/filter/stage_options.hpp"

#include <algorithm>
#include <cstddef>

#include "app/cli/foreign_words.hpp"
#include "app/cli/parse.hpp"
#include "app/filter/format_options.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "batch/journal.hpp"

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

void StageOptions::add_sizes() {
  app_.add_option(sizes_option, values_[sizes_option],
                  "Resize to each of these sizes, and write each. A size is a width in pixels, "
                  "xHEIGHT or WIDTHxHEIGHT; smaller pictures keep theirs. Later stages and the "
                  "parameters of --resize apply to each. Results are called NAME-WIDTH, unless "
                  "--name says otherwise.")
      ->one_value_each()
      ->option_text("W,W,...")
      ->group(stage_group);
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
    if (values_.count(name) == 0) continue;
    const std::string& value = values_.at(name).at(seen[name]++);
    name == sizes_option ? given.emplace_back("--resize", sizes().back())
                         : given.emplace_back(name, value);
  }
  std::vector<GivenStage> stages = given_stages(given, catalogue_);
  if (const auto place = place_of_sizes()) stages.at(*place).parameters.emplace("--only", "shrink");
  return stages;
}

std::vector<std::string> StageOptions::sizes() const {
  const auto given = values_.find(sizes_option);
  if (given == values_.end() || given->second.empty()) return {};
  if (given->second.size() > 1)
    throw UsageError("--sizes: is given twice; write all sizes in one, as in --sizes 400,800");
  std::vector<std::string> sizes;
  for (const std::string_view size : split(given->second.front(), ','))
    sizes.emplace_back(size);
  return sizes;
}

std::optional<std::size_t> StageOptions::place_of_sizes() const {
  std::map<std::string, std::size_t> seen;
  std::size_t stages = 0;
  for (const Option* option : app_.parse_order()) {
    const std::string name = option->name();
    if (name == sizes_option) return stages;
    if (values_.count(name) == 0) continue;
    if (requested_stage(name, values_.at(name).at(seen[name]++), catalogue_) != nullptr) ++stages;
  }
  return std::nullopt;
}

std::vector<StageChain> StageOptions::branches(const StageChain& chain, std::size_t place) const {
  std::vector<StageChain> branches;
  if (sizes().empty()) return branches;
  const GivenStage last = given().at(*place_of_sizes());
  for (const std::string& size : sizes()) {
    GivenStage stage = last;
    stage.value = size;
    branches.emplace_back(chain.begin() + static_cast<std::ptrdiff_t>(place), chain.end());
    branches.back().front() = make_chain({stage}).front();
  }
  branches.pop_back();
  return branches;
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
  if (const auto place = place_of_sizes()) {
    Typed& typed = stages.at(*place);
    typed.option = sizes_option;
    typed.values.replace(0, sizes().back().size(), values_.at(sizes_option).front());
  }
  return stages;
}

}  // namespace gpufilter
