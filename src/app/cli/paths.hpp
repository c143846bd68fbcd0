// Questions about the paths on a command line.
#pragma once

#include <string>

namespace gpufilter {

// Means standard input or standard output.
inline constexpr const char* standard_stream = "-";

// Whether `path` leads to a folder; a stream never does.
[[nodiscard]] bool is_folder_argument(const std::string& path);

// Whether both lead to the same file, even if it does not exist yet.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace gpufilter
