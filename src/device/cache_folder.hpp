// Where this program keeps what it can make again.
#pragma once

#include <filesystem>
#include <optional>

namespace gpufilter {

// $XDG_CACHE_HOME/gpufilter, or $HOME/.cache/gpufilter; nothing where neither variable holds an
// absolute path. The folder need not exist.
[[nodiscard]] std::optional<std::filesystem::path> cache_folder();

}  // namespace gpufilter
