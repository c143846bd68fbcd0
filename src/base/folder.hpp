// Questions about folders.
#pragma once

#include <string>

namespace gpufilter {

// Whether `path` leads to a folder. False if that cannot be found out.
[[nodiscard]] bool is_folder(const std::string& path);

}  // namespace gpufilter
