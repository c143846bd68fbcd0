// Pictures that stages read whole.
#pragma once

#include <optional>
#include <string>

#include "image/image.hpp"

namespace gpufilter {

// All pixels of a picture file. Throws UsageError "PATH: reason".
[[nodiscard]] Image read_picture_file(const std::string& path);

// Those of the picture that a file's bytes are; nothing if they are none. Throws as above.
[[nodiscard]] std::optional<Image> picture_in(const std::string& bytes, const std::string& path);

}  // namespace gpufilter
