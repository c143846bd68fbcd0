#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/filter/filter_options.hpp"
#include "app/filter/format_options.hpp"
#include "app/help/help_layout.hpp"
#include "app/help/help_topics.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "codec/codec_table.hpp"
#include "lab/stage_samples.hpp"
#include "stage/options/catalogue.hpp"

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

// The stage's purpose, values, parameters and formula, its handling of edges and alpha, and
// examples, all from its declaration.
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

// The format named "heic", "jpeg" or "jpeg-xl"; nullptr if there is none.
const Codec* find_format(const std::string& name) {
  const auto spelled = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
      return c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    return text;
  };
  for (const Codec* codec : codecs()) {
    if (spelled(codec->name) == spelled(name)) return codec;
  }
  return codec_of_name("." + name);
}

// The page of a format, from its row in the codec table: the samples that its files hold, and the
// options for writing them.
std::string format_page(const Codec& codec) {
  const char* colors = codec.color_channels == 1   ? "grey"
                       : codec.color_channels == 3 ? "colours"
                                                   : "grey and colours";
  std::string text = wrapped(
      formatted("{}: {}\n{}{}, up to {} bits per sample{}{}.\n", codec.name,
                fmt::join(codec.extensions, ", "), static_cast<char>(std::toupper(colors[0])),
                colors + 1, codec.max_depth, codec.max_depth == float_depth ? " (floats)" : "",
                codec.holds_alpha ? ", with alpha" : "; alpha is flattened onto --background"));
  text += wrapped(codec.is_lossless ? "Every sample is read back as it was written.\n"
                                    : "Compression may change samples; see the options.\n");
  text += "\nOptions of outputs:\n";
  for (const WriteOption* option : codec.options)
    text += list_item("--" + option->name, option->help, value_column);
  if (codec.libraries != nullptr)
    text += "\n" + wrapped(formatted("Libraries: {}\n", codec.libraries()));
  return text + "\n" + wrapped("'gpufilter help formats' compares the formats.\n");
}

std::string without_dashes(const std::string& word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

constexpr const char* help_explanation =
    R"('gpufilter help' is the short help, 'gpufilter --help-all' lists every option.

Examples:
  gpufilter help blur
  gpufilter help stats
  gpufilter help --quality
  gpufilter help folders
  gpufilter help bench matmul
)";

std::vector<std::string> all_topics() {
  std::vector<std::string> topics = command_names();
  const std::vector<std::string> subjects = help_topic_names();
  topics.insert(topics.end(), subjects.begin(), subjects.end());
  for (const std::string& name : lab::stage_names())
    topics.push_back(name);
  for (const std::string& name : main_format_names())
    topics.push_back(name);
  for (const std::string& name : filter_option_names())
    topics.push_back("--" + name);
  return topics;
}

int show_own_page() {
  Arguments app("Explains a stage, a subcommand, an option, a format or a subject.",
                "gpufilter help");
  std::string topic;
  app.add_option(
         "TOPIC", topic,
         formatted("A stage ({}), a subcommand ({}), an option, such as --quality, a format, "
                   "such as heic, or a subject ({}).",
                   fmt::join(lab::stage_names(), ", "), fmt::join(command_names(), ", "),
                   fmt::join(help_topic_names(), ", ")))
      ->suggests({.words = all_topics()});
  app.footer(help_explanation);
  const std::array arguments{"help", "--help"};
  return parse_command_line(app, static_cast<int>(arguments.size()), arguments.data()).value_or(0);
}

[[noreturn]] void refuse_topic(const std::string& topic) {
  const std::vector<std::string> subjects = help_topic_names();
  std::vector<std::string> known = filter_option_names();  // stages are among them
  for (const std::vector<std::string>& more : {command_names(), subjects, main_format_names()})
    known.insert(known.end(), more.begin(), more.end());
  const auto near = words_like(without_dashes(topic), known);
  throw UsageError(formatted(
      "{}: not a help topic; {}", printable(topic),
      near.empty()
          ? formatted("choose a stage, a subcommand, an option, or {}", enumerated(subjects, "or"))
          : formatted("did you mean {}?", enumerated(near, "or"))));
}

// The page of the option "--quality", "quality" or "-q"; empty if there is none.
std::string option_text(const std::string& topic) {
  const std::string name = topic.substr(0, topic.find('='));
  return filter_option_page(name.starts_with('-') ? name : "--" + name);
}

// The main job's own help.
int show_main_help(const char* option) {
  const std::array arguments{"gpufilter", option};
  return run_filter_command(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace

int run_help_command(int argc, const char* const* argv) {
  if (argc < 2) return show_main_help("--help");
  const std::string topic = argv[1];
  const std::string name = without_dashes(topic);
  if (name == "bench" && argc == 3) {
    const std::array arguments{"bench", argv[2], "--help"};
    return find_command(name)->run(static_cast<int>(arguments.size()), arguments.data());
  }
  if (argc > 2) {
    throw UsageError(formatted("{}: help takes one topic", printable(argv[2])));
  }
  if (name == "help" || topic == "-h") return show_own_page();
  if (name == "all" || name == "help-all") {
    return show_main_help("--help-all");
  } else if (const StageKind* kind = find_stage("--" + name)) {
    print_result(stage_page(*kind));
  } else if (const Command* command = find_command(name)) {
    const std::array arguments{command->name.c_str(), "--help"};
    return command->run(static_cast<int>(arguments.size()), arguments.data());
  } else if (const std::string text = help_topic(name); !text.empty()) {
    print_result(text);
  } else if (const Codec* format = find_format(name)) {
    print_result(format_page(*format));
  } else if (const std::string page = option_text(topic); !page.empty()) {
    print_result(page);
  } else {
    refuse_topic(topic);
  }
  return 0;
}

}  // namespace gpufilter
