#include "app/main_help.hpp"

#include <array>

#include "app/commands.hpp"
#include "app/help_layout.hpp"
#include "base/format.hpp"
#include "stages/catalogue.hpp"

namespace gpufilter {
namespace {

constexpr const char* purpose =
    "Filters pictures on the processor or on a GPU. Both give the same bits.\n";

struct Call {
  const char* words;
  const char* meaning;
};
constexpr std::array calls{
    Call{"INPUT OUTPUT [STAGE...] [OPTION...]", "one picture; - is a pipe"},
    Call{"INPUT... OUTDIR [STAGE...] [OPTION...]", "several pictures"},
    Call{"INDIR OUTDIR [STAGE...] [OPTION...]", "every picture in a folder"},
};

// The most common options, in this order.
constexpr std::array common_options{"--border",  "--device",    "--to",
                                    "--quality", "--on-exists", "--recursive",
                                    "--resume",  "--timing",    "--quiet"};

constexpr std::size_t short_column = 43;

constexpr const char* short_examples = R"(Examples:
  gpufilter in.png out.png --blur auto
  gpufilter in.jpg out.jpg --levels auto --color sepia=0.6 --quality 90
  gpufilter photos/ results/ --blur auto --recursive --resume

'gpufilter help STAGE' explains a stage; --help-all lists every option.
)";

constexpr const char* rules =
    "Stages run in the order in which they are written; any may be repeated. A parameter belongs "
    "to the stage before it; before the first stage it is the default for all stages that take it. "
    "'-' is standard input or standard output.\n\n"
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
  gpufilter photos/ results/ --blur auto --recursive --resume
  gpufilter *.jpg results/ --color sepia            several pictures

Exit codes:
  0         done
  1         a picture failed; the others in a folder are still done
  2         wrong usage, found before any picture is touched
  3         the requested device does not exist or does not work
  130, 143  interrupted (SIGINT, SIGTERM)
compare has its own exit codes: see 'gpufilter help compare'.
)";

std::string call_lines() {
  std::string text;
  for (const Call& call : calls)
    text += list_item(formatted("gpufilter {}", call.words), call.meaning, 53);
  return text;
}

std::string command_lines(std::size_t column) {
  std::string text = "Subcommands:\n";
  for (const Command& command : commands()) {
    text += list_item(command.name + (command.arguments.empty() ? "" : " " + command.arguments),
                      command.summary, column);
  }
  return text;
}

std::string short_page(const Arguments& app) {
  std::string text = purpose + ("\n" + call_lines());
  text += "\nStages, in any order and number:\n";
  for (const StageKind& kind : stage_catalogue()) {
    text += list_item(kind.option + " " + value_form(kind.type), first_sentence(kind.help),
                      short_column);
  }
  text += "\nOptions:\n";
  for (const char* name : common_options) {
    const Option& option = *app.find(name);
    text += list_item(option_head(option), first_sentence(option.description()), short_column);
  }
  return text + "\n" + command_lines(short_column) + "\n" + short_examples;
}

std::string long_page(const Arguments& app) {
  return purpose + ("\n" + call_lines()) + "\n" + positionals(app) + "\n" + wrapped(rules) + "\n" +
         option_groups(app) + "\n" + command_lines(22) + "\n" + more_examples;
}

}  // namespace

std::string main_page(const Arguments& app, HelpLength length) {
  return length == HelpLength::full ? long_page(app) : short_page(app);
}

std::string brief_usage() {
  std::string text = "Usage:\n" + call_lines() + "  gpufilter ";
  for (const std::string& name : command_names())
    text += (text.ends_with(' ') ? "" : " | ") + name;
  return text + "\n\nFor example: gpufilter in.png out.png --blur auto\nMore: gpufilter --help\n";
}

}  // namespace gpufilter
