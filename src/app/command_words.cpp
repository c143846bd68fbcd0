#include "app/command_words.hpp"

#include <algorithm>
#include <utility>

namespace gpufilter {
namespace {

const CLI::Option* option_named(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  return option == nullptr || option->get_positional() ? nullptr : option;
}

// The option of "--quality", "--quality=85", "-v" or "-vq"; nullptr if there is no such option.
const CLI::Option* option_in(const CLI::App& app, const std::string& word) {
  if (word.starts_with("--")) return option_named(app, word.substr(0, word.find('=')));
  if (word.size() == 2) return option_named(app, word);
  const auto is_known = [&app](char letter) {
    const CLI::Option* option = option_named(app, std::string("-") + letter);
    return option != nullptr && is_flag(*option);
  };
  if (!std::all_of(word.begin() + 1, word.end(), is_known)) return nullptr;
  return option_named(app, std::string("-") + word.back());
}

}  // namespace

bool is_flag(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

std::vector<CommandWord> command_words(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<CommandWord> words;
  const CLI::Option* waiting = nullptr;  // for its value
  bool only_names = false;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    if (waiting != nullptr) {
      words.push_back({text, CommandWord::Part::value, std::exchange(waiting, nullptr)});
    } else if (only_names || text.size() < 2 || !text.starts_with('-')) {
      words.push_back({.text = text, .after_dashes = only_names});
    } else if (text == "--") {
      only_names = true;
    } else {
      const CLI::Option* option = option_in(app, text);
      words.push_back({text, CommandWord::Part::option, option});
      const bool has_value = text.find('=') != std::string::npos;
      if (option != nullptr && !is_flag(*option) && !has_value) waiting = option;
    }
  }
  return words;
}

}  // namespace gpufilter
