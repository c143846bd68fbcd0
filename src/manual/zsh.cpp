#include "base/format.hpp"
#include "base/shell_word.hpp"
#include "manual/completions.hpp"
#include "manual/shell_text.hpp"

namespace gpufilter::manual {
namespace {

// In the specifications of _arguments, colons and brackets divide.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string action_of(const Suggestions& suggestions) {
  std::string files;
  if (suggestions.files == Suggestions::Files::folders) files = "/";
  if (suggestions.files == Suggestions::Files::all) {
    files = joined(extension_names(suggestions), "|");
    if (files.empty()) files = "*";
  }
  std::string action =
      formatted("_gpufilter_values {} {}", shell_word(files), suggestions.devices ? "yes" : "''");
  for (const std::string& word : suggestions.words)
    action += " " + shell_word(word);
  return action;
}

// ":form: action"; a space before the action keeps _arguments from adding words to it.
std::string value_part(const std::string& form, const Suggestions& suggestions) {
  return formatted(":{}: {}", escaped(form), escaped(action_of(suggestions)));
}

std::string option_line(const DeclaredOption& option, const std::string& name) {
  const std::string meaning = "[" + escaped(summary_of(option)) + "]";
  std::string text = "*" + name;
  if (option.has_optional_value()) {
    text += "=-" + meaning + "::" + escaped(option.form) + ": ";
  } else if (option.is_flag) {
    text += meaning;
  } else {
    text +=
        (name.starts_with("--") ? "=" : "") + meaning + value_part(option.form, option.suggestions);
  }
  return "        " + shell_word(text) + "\n";
}

std::string zsh_positionals(const DeclaredCommand& command) {
  std::string text;
  int place = 1;
  for (const DeclaredOption* word : command.positionals()) {
    const bool is_first_of_all = command.words.empty() && place == 1;
    const std::string spec = value_part(word->names.front(), word->suggestions);
    if (is_first_of_all) text += "        '1: : _gpufilter_first'\n";
    if (word->takes_several) {
      text += "        " + shell_word("*" + spec) + "\n";
    } else if (!command.words.empty()) {
      text += "        " + shell_word(formatted("{}{}", place, spec)) + "\n";
    }
    ++place;
  }
  return text;
}

std::string command_case(const DeclaredCommand& command) {
  std::string text = formatted("    ({}) options=(\n", shell_word(command.name()));
  for (const DeclaredOption* option : command.all_options()) {
    for (const std::string& name : option->names)
      text += option_line(*option, name);
  }
  return text + zsh_positionals(command) + "      ) ;;\n";
}

std::string described(const DeclaredCommand& command) {
  return "    " + shell_word(command.words.back() + ":" + command.summary) + "\n";
}

}  // namespace

std::string zsh_completion(const std::vector<DeclaredCommand>& commands, std::string_view frame) {
  std::vector<std::string> names;
  std::string cases;
  std::string described_commands;
  for (const DeclaredCommand& command : commands) {
    cases += command_case(command);
    if (command.words.size() == 1) described_commands += described(command);
    if (command.words.empty()) continue;
    names.push_back(command.words.size() == 1 ? shell_word(" " + command.name())
                                              : shell_word(command.name()));
  }
  const Suggestions& pictures = commands.front().positionals().front()->suggestions;
  return filled_in(frame, {{"COMMANDS", joined(names, "|")},
                           {"SUBCOMMANDS", described_commands},
                           {"FIRST", action_of(pictures)},
                           {"CASES", cases}});
}

}  // namespace gpufilter::manual
