// The environment variables that the program reads and the files that it keeps, for help and
// manual.
#pragma once

#include <span>
#include <string_view>

namespace gpufilter {

struct NamedMeaning {
  std::string_view name;
  std::string_view meaning;
};

[[nodiscard]] std::span<const NamedMeaning> environment_variables();

// Paths begin with ~ for the home folder, PREFIX for where the program is installed, or OUTDIR.
[[nodiscard]] std::span<const NamedMeaning> kept_files();

}  // namespace gpufilter
