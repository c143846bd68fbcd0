// Pictures that stages read whole.
#pragma once

#include <string>

#include "image/image.hpp"

namespace gpufilter {

// All pixels of a picture file. Throws UsageError "PATH: reason".
[[nodiscard]] Image read_picture_file(const std::string& path);

}  // namespace gpufilter
