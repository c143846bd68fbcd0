#include "app/cli/command_words.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/printable.hpp"

namespace gpufilter {
namespace {

const Option* option_named(const Arguments& app, const std::string& name) {
  const Option* option = app.find(name);
  return option == nullptr || option->is_positional() ? nullptr : option;
}

// The option of "--quality", "--quality=85", "-v" or "-vq"; nullptr if there is no such option.
const Option* option_in(const Arguments& app, const std::string& word) {
  if (word.starts_with("--")) return option_named(app, word.substr(0, word.find('=')));
  if (word.size() == 2) return option_named(app, word);
  const auto is_known = [&app](char letter) {
    const Option* option = option_named(app, std::string("-") + letter);
    return option != nullptr && option->is_flag();
  };
  if (!std::all_of(word.begin() + 1, word.end(), is_known)) return nullptr;
  return option_named(app, std::string("-") + word.back());
}

}  // namespace

std::vector<CommandWord> command_words(const Arguments& app, int argc, const char* const* argv) {
  std::vector<CommandWord> words;
  const Option* waiting = nullptr;  // for its value
  bool only_names = false;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const CommandWord* before = words.empty() || only_names ? nullptr : &words.back();
    if (before != nullptr && before->part == CommandWord::Part::option &&
        before->option != nullptr && before->option->may_precede(text)) {
      words.push_back({text, CommandWord::Part::value, before->option});
    } else if (waiting != nullptr) {
      words.push_back({text, CommandWord::Part::value, std::exchange(waiting, nullptr)});
    } else if (only_names || text.size() < 2 || !text.starts_with('-')) {
      words.push_back({.text = text, .after_dashes = only_names});
    } else if (text == "--") {
      only_names = true;
    } else {
      const Option* option = option_in(app, text);
      words.push_back({text, CommandWord::Part::option, option});
      const bool has_value = text.find('=') != std::string::npos;
      if (option != nullptr && !option->is_flag() && !has_value) waiting = option;
    }
  }
  return words;
}

std::string command_line_text(int argc, const char* const* argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) {
    if (i > 0) text += ' ';
    text += shell_word(argv[i]);
  }
  return text;
}

std::string command_to_repeat(int argc, const char* const* argv) {
  const std::vector<const char*> given(argv, argv + argc);
  const auto end = std::find(given.begin(), given.end(), std::string_view("--"));
  std::vector<const char*> words;
  for (auto word = given.begin(); word != end; ++word) {
    const std::string_view text = *word;
    if (text == "--on-exists") {
      if (++word == end) break;  // its value
    } else if (text != "--resume" && !text.starts_with("--on-exists=")) {
      words.push_back(*word);
    }
  }
  words.insert(words.end(), {"--on-exists", "overwrite"});
  words.insert(words.end(), end, given.end());
  return command_line_text(static_cast<int>(words.size()), words.data());
}

std::string command_without_shard(int argc, const char* const* argv) {
  std::vector<const char*> words;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool is_left_out = word == "--shard" || word == "--list";
    if (is_left_out) {
      ++i;  // its value
    } else if (!word.starts_with("--shard=") && !word.starts_with("--list=")) {
      words.push_back(argv[i]);
    }
  }
  return command_line_text(static_cast<int>(words.size()), words.data());
}

}  // namespace gpufilter
