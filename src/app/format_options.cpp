#include "app/format_options.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {
namespace {

// What the help shows of an option's values.
struct ValueNames {
  std::string operator()(const WriteOption::WholeNumber& numbers) const {
    return formatted("{}..{}", numbers.minimum, numbers.maximum);
  }
  std::string operator()(const WriteOption::Choice& choices) const {
    return formatted("{}", fmt::join(choices.names, "|"));
  }
  std::string operator()(const WriteOption::AnyColor&) const { return "COLOR"; }
};

// Lets an option's value be what parse_value() takes.
CLI::Validator value_of(const WriteOption& option) {
  const auto complaint = [&option](const std::string& text) -> std::string {
    try {
      static_cast<void>(parse_value(option, text));
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  return {complaint, ""};
}

}  // namespace

void add_format_options(CLI::App& app, WriteOptions& options) {
  for (const WriteOption* option : all_write_options()) {
    std::string values = std::visit(ValueNames{}, option->kind);
    if (!option->default_value.empty()) values += formatted(" [{}]", option->default_value);
    app.add_option_function<std::string>(
           "--" + option->name,
           [&options, option](const std::string& text) { options.set(*option, text); },
           option->help)
        ->check(value_of(*option))
        ->option_text(values);
  }
}

}  // namespace gpufilter
