#include "app/stage_page.hpp"

#include <algorithm>

#include "app/help_layout.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t value_column = 20;
constexpr std::size_t listing_column = 30;

std::string values_text(const ValueType& type, std::size_t column) {
  std::string text;
  for (const auto& [form, help] : value_meanings(type)) {
    if (!help.empty())
      text += list_item(std::string(column - value_column, ' ') + form, help, column);
  }
  return text;
}

std::string parameter_text(const StageParameter& parameter) {
  constexpr std::size_t deeper = 4;
  const std::string form = value_form(parameter.type);
  std::string text = hanging("  " + parameter.option + (form.empty() ? "" : " " + form));
  std::string help = parameter.help;
  if (!form.empty()) help += formatted(" The default is {}.", parameter.default_value);
  if (!parameter.only_with.empty()) help += formatted(" Only with {}.", parameter.only_with);
  text += wrapped(help, 2 + deeper);
  return text + values_text(parameter.type, value_column + deeper);
}

std::string option_and_form(const StageKind& kind) {
  const std::string form = value_form(kind.type);
  return form.empty() ? kind.option : kind.option + " " + form;
}

// A heading and its text; empty if the text is empty.
std::string section(const char* heading, const std::string& text) {
  return text.empty() ? "" : "\n" + hanging(formatted("{}:", heading)) + text;
}

}  // namespace

std::string stage_page(const StageKind& kind) {
  std::string parameters;
  for (const StageParameter& parameter : kind.parameters)
    parameters += parameter_text(parameter);
  std::string lists;
  for (const StageListing& listing : kind.listings)
    lists += list_item("gpufilter " + listing.option, listing.help, listing_column);
  std::string examples;
  for (const std::string& example : kind.examples)
    examples += formatted("  gpufilter {}\n", example);
  return hanging(option_and_form(kind)) + "\n" + wrapped(kind.help) +
         section("Values", values_text(kind.type, value_column)) +
         section("Parameters, after the stage or before all stages", parameters) +
         section("Formula", wrapped(kind.formula, 2)) + section("Edges", wrapped(kind.edges, 2)) +
         section("Alpha", wrapped(kind.alpha, 2)) + section("See also", lists) + "\n" +
         reflowed("Examples:\n" + examples);
}

}  // namespace gpufilter
