// Reads text files.
#pragma once

#include <string>

namespace gpufilter {

// The bytes of a file or pipe. Throws std::system_error.
[[nodiscard]] std::string read_text_file(const std::string& path);

}  // namespace gpufilter
