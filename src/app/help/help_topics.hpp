// Pages of the help on subjects rather than options: docs/ in short.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

struct NamedMeaning {
  std::string_view name;
  std::string_view meaning;
};

[[nodiscard]] std::span<const NamedMeaning> environment_variables();

// Paths begin with ~ for the home folder, PREFIX for where the program is installed, or OUTDIR.
[[nodiscard]] std::span<const NamedMeaning> kept_files();

[[nodiscard]] std::vector<std::string> help_topic_names();

// The text of a topic; empty if there is no such topic.
[[nodiscard]] std::string help_topic(const std::string& name);

}  // namespace gpufilter
