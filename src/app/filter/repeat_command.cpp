#include "app/filter/repeat_command.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "app/filter/trace_file.hpp"

namespace gpufilter {

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

}  // namespace gpufilter
