#include "app/cli/command_words.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>
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

// The words without these options and their values.
std::vector<const char*> without_options(std::span<const char* const> words,
                                         std::initializer_list<std::string_view> options) {
  std::vector<const char*> rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool is_option =
        std::ranges::find(options, word.substr(0, word.find('='))) != options.end();
    if (!is_option) rest.push_back(words[i]);
    if (is_option && word.find('=') == std::string_view::npos) ++i;  // its value
  }
  return rest;
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
  const char* const* end = std::find(argv, argv + argc, std::string_view("--"));
  std::vector<const char*> words = without_options({argv, end}, {"--on-exists"});
  std::erase(words, std::string_view("--resume"));
  words.insert(words.end(), {"--on-exists", "overwrite"});
  words.insert(words.end(), end, argv + argc);
  return command_line_text(static_cast<int>(words.size()), words.data());
}

std::string command_without_shard(int argc, const char* const* argv) {
  const auto words = without_options({argv, argv + argc}, {"--shard", "--list"});
  return command_line_text(static_cast<int>(words.size()), words.data());
}

}  // namespace gpufilter
