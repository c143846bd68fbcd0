#include "app/cli/main_help.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/help/help_layout.hpp"
#include "base/format.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {
namespace {

constexpr const char* purpose =
    "Filters pictures, one at a time or a whole folder. A GPU gives the same bits.\n";

struct Line {
  const char* words;
  const char* meaning;
};
constexpr std::array calls{
    Line{"INPUT OUTPUT [STAGE...] [OPTION...]", "one picture; - is a pipe"},
    Line{"INPUT... OUTDIR/ [STAGE...] [OPTION...]", "several pictures"},
    Line{"INDIR OUTDIR [STAGE...] [OPTION...]", "every picture in a folder"},
    Line{"INPUT... --in-place [STAGE...]", "each into itself"},
};

// Photographers' terms, and the stages for them.
constexpr std::array wishes{
    Line{"smaller", "--resize 1600x1600 --only shrink"},
    Line{"sharper", "--sharpen 0.8"},
    Line{"less noise", "--denoise 10"},
    Line{"black and white", "--color grayscale"},
    Line{"stronger colours (below 1: weaker)", "--color saturate=1.3"},
    Line{"the full range from black to white", "--levels auto=0.5"},
};

// The most common options, in this order.
constexpr std::array common_options{"--quality",   "--to",     "--recursive",
                                    "--on-exists", "--resume", "--device"};

// The commands that photographers need; the others share a line.
constexpr std::array common_commands{"compare", "info", "help"};

constexpr std::size_t short_column = 41;
constexpr std::size_t names_column = 14;  // of many short names

constexpr const char* short_examples = R"(Examples:
  gpufilter in.jpg out.jpg --levels auto=0.5 --color saturate=1.2 --quality 90
  gpufilter photos/ web/ --resize 1600x1600 --sharpen 0.5 --to webp --recursive

'gpufilter help resize' explains a stage; --help-all lists every option.
)";

constexpr const char* rules =
    "Stages run in the order in which they are written; any may be repeated. A parameter belongs "
    "to the stage before it; before the first stage it is the default for all stages that take it. "
    "'-' is standard input or standard output. @FILE stands for the words in FILE "
    "(gpufilter help recipes).\n\n"
    "An option that no output can use is refused, such as --quality if every output is a PNG. "
    "One that turns out to have no effect, such as --background if no picture has alpha, "
    "causes a warning.\n";

constexpr const char* more_examples = R"(Examples:
  gpufilter in.png out.png --blur auto              blur once
  gpufilter in.jpg out.png --blur auto --blur auto  blur twice
  gpufilter in.png out.png --blur tiled --tile 32 --border mirror --device gpu
  gpufilter in.png out.png --border wrap --blur auto --blur auto --border mirror
  gpufilter in.png out.jpg --quality 85             only convert
  gpufilter - - --blur auto < in.png > out.png      in a pipe
  gpufilter in.png - --to jpg > out.jpg             as JPEG to a pipe
  gpufilter in.png out.png --blur auto --timing json --trace trace.json
  gpufilter photos/ web/ --resize 1600x1600 --sharpen 0.5 --to webp --recursive
  gpufilter *.jpg results/ --color sepia            several pictures

Exit codes:
  0                   done
  1                   a picture failed; the others in a folder are still done
  2                   wrong usage, found before any picture is touched
  3                   the requested device does not exist or does not work
  129, 130, 131, 143  ended by SIGHUP, SIGINT, SIGQUIT, SIGTERM
  141                 the reader of standard output went away (SIGPIPE)
compare has its own exit codes: see 'gpufilter help compare'.
)";

std::string call_lines() {
  std::string text;
  for (const Line& call : calls)
    text += list_item(formatted("gpufilter {}", call.words), call.meaning, 53);
  return text;
}

std::vector<std::string> stage_options() {
  std::vector<std::string> options;
  for (const StageKind& kind : stage_catalogue())
    options.push_back(kind.option);
  return options;
}

std::string command_line(const Command& command, std::size_t column) {
  return list_item(command.name + (command.arguments.empty() ? "" : " " + command.arguments),
                   command.summary, column);
}

std::string command_lines() {
  std::string text = "Subcommands:\n";
  for (const Command& command : commands())
    text += command_line(command, 22);
  return text;
}

std::string common_command_lines() {
  std::string text = "Subcommands:\n";
  for (const char* name : common_commands)
    text += command_line(*find_command(name), short_column);
  std::vector<std::string> others = command_names();
  std::erase_if(others, [](const std::string& name) {
    return std::find(common_commands.begin(), common_commands.end(), name) != common_commands.end();
  });
  return text + list_item("others", formatted("{}", fmt::join(others, ", ")), names_column);
}

std::string short_page(const Arguments& app) {
  std::string text = wrapped(purpose) + "\n" + call_lines();
  text += "\nStages, in any order and number:\n";
  for (const Line& wish : wishes)
    text += list_item(wish.words, wish.meaning, short_column);
  text += list_item("all stages", formatted("{}", fmt::join(stage_options(), " ")), names_column);
  text += "\nOptions:\n";
  for (const char* name : common_options) {
    const Option& option = *app.find(name);
    text += list_item(option_head(option), first_sentence(option.description()), short_column);
  }
  return text + "\n" + common_command_lines() + "\n" + reflowed(short_examples);
}

std::string long_page(const Arguments& app) {
  return wrapped(purpose) + "\n" + call_lines() + "\n" + positionals(app) + "\n" + wrapped(rules) +
         "\n" + option_groups(app) + "\n" + command_lines() + "\n" + reflowed(more_examples);
}

}  // namespace

std::string main_page(const Arguments& app, HelpLength length) {
  return length == HelpLength::full ? long_page(app) : short_page(app);
}

MainHelpTexts main_help_texts() {
  MainHelpTexts texts{.purpose = purpose, .calls = {}, .rules = rules, .footer = more_examples};
  for (const Line& call : calls)
    texts.calls.emplace_back(formatted("gpufilter {}", call.words), call.meaning);
  return texts;
}

std::string brief_usage() {
  return "Usage:\n" + call_lines() +
         hanging(formatted("  gpufilter {}", fmt::join(command_names(), " | "))) + "\n" +
         hanging("For example: gpufilter in.png out.png --blur auto") + "More: gpufilter --help\n";
}

}  // namespace gpufilter
