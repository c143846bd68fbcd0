// Pictures that stages read whole.
#pragma once

#include <string>

#include "image/image.hpp"

namespace gpufilter {

// Whether a file holds a picture, of any format. Throws UsageError "PATH: reason".
[[nodiscard]] bool is_picture_file(const std::string& path);

// All pixels of a picture file. Throws UsageError "PATH: reason".
[[nodiscard]] Image read_picture_file(const std::string& path);

}  // namespace gpufilter
