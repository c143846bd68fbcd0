#include "app/folder/chosen_shard.hpp"

#include <string_view>
#include <vector>

#include <unistd.h>

#include "app/filter/trace_file.hpp"

namespace gpufilter {
namespace {

Environment environment() {
  Environment variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace

std::optional<DetectedShard> chosen_shard(const FolderOptions& options) {
  if (options.shard.empty()) return std::nullopt;
  if (options.shard == "auto") return detect_shard(environment());
  return DetectedShard{parse_shard(options.shard), "--shard"};
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
