// generate_manual FRAMES DATE FOLDER: writes manual pages and completions below FOLDER, in a
// system's usual folders, the public header of stages, and the Python module of stages. FRAMES is
// the folder of the completions' frames, DATE the program's date.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/help/help_layout.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "manual/declared.hpp"
#include "manual/pages.hpp"
#include "manual/stage_sources.hpp"

namespace gpufilter::manual {
namespace {

// Completions for shells: stages, parameters, presets, devices and files of the right kind. Each
// fills in the frame of its shell, a file of manual/frames.

// The words of `list`, each as `form` makes it, with `separator` between them.
std::string joined(const std::vector<std::string>& list, std::string_view separator,
                   std::string (*form)(const std::string&) = nullptr) {
  std::string result;
  for (const std::string& word : list) {
    if (!result.empty()) result += separator;
    result += form == nullptr ? word : form(word);
  }
  return result;
}

// Without their dots: "png", "jpg".
std::vector<std::string> extension_names(const Suggestions& suggestions) {
  std::vector<std::string> names;
  for (const std::string& extension : suggestions.extensions)
    names.push_back(extension.substr(1));
  return names;
}

// The subcommands, or the variants of one.
std::vector<const DeclaredCommand*> subcommands(const std::vector<DeclaredCommand>& commands,
                                                const std::vector<std::string>& parent) {
  std::vector<const DeclaredCommand*> list;
  for (const DeclaredCommand& command : commands) {
    std::vector<std::string> above = command.words;
    if (above.empty()) continue;
    above.pop_back();
    if (above == parent) list.push_back(&command);
  }
  return list;
}

// A program's text with `@NAME@` replaced.
std::string filled_in(std::string_view frame,
                      const std::vector<std::pair<std::string, std::string>>& values) {
  std::string text(frame);
  for (const auto& [name, value] : values) {
    const std::string mark = "@" + name + "@";
    for (std::size_t at = text.find(mark); at != std::string::npos;
         at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  }
  return text;
}

// The first sentence of a description, for a list of options.
std::string summary_of(const DeclaredOption& option) {
  return first_sentence(option.description);
}

std::string quoted_words(const std::vector<std::string>& words) {
  return joined(words, " ", shell_word);
}

std::string values_of(const Suggestions& suggestions) {
  std::vector<std::string> calls;
  if (!suggestions.words.empty())
    calls.push_back("_gpufilter_words " + quoted_words(suggestions.words));
  if (suggestions.devices) calls.emplace_back("_gpufilter_devices");
  if (suggestions.files == Suggestions::Files::folders) calls.emplace_back("_gpufilter_folders");
  if (suggestions.files == Suggestions::Files::all) {
    const std::string names = joined(extension_names(suggestions), " ");
    calls.push_back("_gpufilter_files" + (names.empty() ? "" : " " + names));
  }
  return joined(calls, "; ");
}

std::string branch(const std::string& pattern, const std::string& commands) {
  return formatted("    {}) {} ;;\n", pattern, commands);
}

// Patterns of "COMMAND OPTION" for all names of an option.
std::vector<std::string> keys_of(const DeclaredCommand& command, const DeclaredOption& option) {
  std::vector<std::string> keys;
  for (const std::string& name : option.names)
    keys.push_back(shell_word(command.name() + " " + name));
  return keys;
}

std::string value_branches(const DeclaredCommand& command) {
  std::string text;
  for (const DeclaredOption* option : command.all_options()) {
    const std::string values = values_of(option->suggestions);
    if (!values.empty()) text += branch(joined(keys_of(command, *option), " | "), values);
  }
  int place = 1;
  for (const DeclaredOption* word : command.positionals()) {
    const std::string values = values_of(word->suggestions);
    const std::string key = word->takes_several
                                ? shell_word(command.name() + " ") + "[0-9]*"
                                : shell_word(formatted("{} {}", command.name(), place));
    if (!values.empty()) text += branch(key, values);
    ++place;
  }
  return text;
}

std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string bash_completion(const std::vector<DeclaredCommand>& commands, std::string_view frame) {
  std::vector<std::string> names;
  std::vector<std::string> valued;
  std::string subcommand_branches;
  std::string options;
  std::string values;
  for (const DeclaredCommand& command : commands) {
    if (!command.words.empty()) names.push_back(shell_word(command.name()));
    std::vector<std::string> below;
    for (const DeclaredCommand* inner : subcommands(commands, command.words))
      below.push_back(inner->words.back());
    if (command.words.empty()) {
      subcommand_branches += branch("''", "_gpufilter_words " + quoted_words(below));
    }
    std::vector<std::string> own;
    for (const DeclaredOption* option : command.all_options()) {
      own.insert(own.end(), option->names.begin(), option->names.end());
      if (option->is_flag) continue;
      for (const std::string& key : keys_of(command, *option))
        valued.push_back(key);
    }
    options += branch(shell_word(command.name()), "_gpufilter_words " + quoted_words(own));
    values += value_branches(command);
  }
  return filled_in(frame, {{"COMMANDS", joined(names, " | ")},
                           {"SUBCOMMANDS", without_line_end(subcommand_branches)},
                           {"OPTIONS", without_line_end(options)},
                           {"VALUED", joined(valued, " | ")},
                           {"VALUES", without_line_end(values)}});
}

// In the specifications of _arguments, colons and brackets divide.
std::string zsh_escaped(std::string_view text) {
  return with_words_for(text, {{':', "\\:"}, {'[', "\\["}, {']', "\\]"}, {'\\', "\\\\"}});
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
  return formatted(":{}: {}", zsh_escaped(form), zsh_escaped(action_of(suggestions)));
}

std::string option_line(const DeclaredOption& option, const std::string& name) {
  const std::string meaning = "[" + zsh_escaped(summary_of(option)) + "]";
  std::string text = "*" + name;
  if (option.has_optional_value()) {
    text += "=-" + meaning + "::" + zsh_escaped(option.form) + ": ";
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

// In apostrophes, where fish knows \' and \\.
std::string fish_quoted(std::string_view text) {
  return "'" + with_words_for(text, {{'\'', "\\'"}, {'\\', "\\\\"}}) + "'";
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

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  stream.exceptions(std::ios::failbit | std::ios::badbit);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream stream(file);
  stream.exceptions(std::ios::failbit | std::ios::badbit);
  stream << text;
  stream.close();
}

void generate(const fs::path& frames, const std::string& date, const fs::path& folder) {
  const auto commands = declared_commands();
  fs::remove_all(folder);
  for (const Page& page : manual_pages(commands, date))
    write(folder / "man1" / page.file, page.text);
  write(folder / "bash" / "gpufilter",
        bash_completion(commands, text_of(frames / "gpufilter.bash.in")));
  write(folder / "zsh" / "_gpufilter", zsh_completion(commands, text_of(frames / "_gpufilter.in")));
  write(folder / "fish" / "gpufilter.fish",
        fish_completion(commands, text_of(frames / "gpufilter.fish.in")));
  write(folder / "stages.hpp", stage_header());
  write(folder / "stages.py", stage_module());
}

}  // namespace
}  // namespace gpufilter::manual

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "generate_manual FRAMES DATE FOLDER\n";
    return 2;
  }
  try {
    gpufilter::manual::generate(argv[1], argv[2], argv[3]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "generate_manual: " << error.what() << "\n";
    return 1;
  }
}
