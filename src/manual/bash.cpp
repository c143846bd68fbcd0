#include "base/format.hpp"
#include "base/shell_word.hpp"
#include "manual/completions.hpp"
#include "manual/shell_text.hpp"

namespace gpufilter::manual {
namespace {

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

}  // namespace

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

}  // namespace gpufilter::manual
