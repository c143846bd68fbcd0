#include "base/format.hpp"
#include "manual/completions.hpp"
#include "manual/shell_text.hpp"

namespace gpufilter::manual {
namespace {

// In apostrophes, where fish knows \' and \\.
std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// The argument of -a, which fish evaluates again.
std::string answers_of(const Suggestions& suggestions) {
  std::vector<std::string> parts = suggestions.words;
  if (suggestions.devices) parts.emplace_back("(__fish_gpufilter_devices)");
  if (suggestions.files == Suggestions::Files::folders)
    parts.emplace_back("(__fish_complete_directories)");
  const std::vector<std::string> names = extension_names(suggestions);
  if (!names.empty()) parts.push_back(formatted("(__fish_gpufilter_files {})", joined(names, " ")));
  return parts.empty() ? "" : " -a " + fish_quoted(joined(parts, " "));
}

// Whether fish itself offers files: of any name only.
bool are_any_files(const Suggestions& suggestions) {
  return suggestions.files == Suggestions::Files::all && suggestions.extensions.empty();
}

std::string beginning(const DeclaredCommand& command, const std::string& condition = "") {
  return "complete -c gpufilter -n " +
         fish_quoted(formatted("__fish_gpufilter_is {}{}", fish_quoted(command.name()), condition));
}

std::string option_line(const DeclaredCommand& command, const DeclaredOption& option) {
  std::string text = beginning(command);
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.is_flag) {
    text += are_any_files(option.suggestions) ? " -r -F" : " -x";
    text += answers_of(option.suggestions);
  }
  return text + " -d " + fish_quoted(summary_of(option)) + "\n";
}

std::string fish_positionals(const DeclaredCommand& command) {
  std::string text;
  for (const DeclaredOption* word : command.positionals())
    text += beginning(command) + " -f" + answers_of(word->suggestions) + "\n";
  return text.empty() ? beginning(command) + " -f\n" : text;
}

std::string subcommand_line(const DeclaredCommand& command) {
  return formatted("complete -c gpufilter -n '__fish_gpufilter_is_first 0' -f -a {} -d {}\n",
                   command.words.back(), fish_quoted(command.summary));
}

}  // namespace

std::string fish_completion(const std::vector<DeclaredCommand>& commands, std::string_view frame) {
  std::vector<std::string> names;
  std::string lines;
  for (const DeclaredCommand& command : commands) {
    if (!command.words.empty()) names.push_back(fish_quoted(command.name()));
    if (command.words.size() == 1) lines += subcommand_line(command);
    lines += fish_positionals(command);
    for (const DeclaredOption* option : command.all_options())
      lines += option_line(command, *option);
  }
  lines.pop_back();
  return filled_in(frame, {{"COMMANDS", joined(names, " ")}, {"COMPLETIONS", lines}});
}

}  // namespace gpufilter::manual
