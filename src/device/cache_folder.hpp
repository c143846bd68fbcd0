// The folder for data that this program can make again.
#pragma once

#include <filesystem>
#include <optional>

namespace gpufilter {

// $XDG_CACHE_HOME/gpufilter, or $HOME/.cache/gpufilter; nothing if neither variable holds an
// absolute path. The folder may not exist.
[[nodiscard]] std::optional<std::filesystem::path> cache_folder();
// A file or folder in it.
[[nodiscard]] std::optional<std::filesystem::path> cache_path(const char* name);

}  // namespace gpufilter
