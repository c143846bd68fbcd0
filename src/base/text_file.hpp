// Files of text.
#pragma once

#include <string>

namespace gpufilter {

// The bytes of a file, pipes among them. Throws std::system_error.
[[nodiscard]] std::string read_text_file(const std::string& path);

}  // namespace gpufilter
