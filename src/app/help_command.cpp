#include "app/help_command.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/filter_command.hpp"
#include "app/filter_options.hpp"
#include "app/help_topics.hpp"
#include "app/parse.hpp"
#include "app/stage_page.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "lab/stage_samples.hpp"

namespace gpufilter {
namespace {

std::string without_dashes(const std::string& word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

const StageKind* find_stage(const std::string& name) {
  for (const StageKind& kind : stage_catalogue()) {
    if (without_dashes(kind.option) == name) return &kind;
  }
  return nullptr;
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
  for (const std::string& name : filter_option_names())
    topics.push_back("--" + name);
  return topics;
}

int show_own_page() {
  Arguments app("Explains a stage, a subcommand, an option or a subject.", "gpufilter help");
  std::string topic;
  app.add_option("TOPIC", topic,
                 formatted("A stage ({}), a subcommand ({}), an option, such as --quality, or a "
                           "subject ({}).",
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
  for (const std::vector<std::string>& more : {command_names(), subjects})
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
  } else if (const StageKind* kind = find_stage(name)) {
    print_result(stage_page(*kind));
  } else if (const Command* command = find_command(name)) {
    const std::array arguments{command->name.c_str(), "--help"};
    return command->run(static_cast<int>(arguments.size()), arguments.data());
  } else if (const std::string text = help_topic(name); !text.empty()) {
    print_result(text);
  } else if (const std::string page = option_text(topic); !page.empty()) {
    print_result(page);
  } else {
    refuse_topic(topic);
  }
  return 0;
}

}  // namespace gpufilter
