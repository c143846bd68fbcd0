#include "app/cli/command_text.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/shell_word.hpp"

namespace gpufilter {

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
