// Pictures that stages read whole.
#pragma once

#include <optional>
#include <string>

#include "image/image.hpp"

namespace gpufilter {

// All pixels of a picture file, turned as its orientation says. Throws UsageError "PATH: reason".
[[nodiscard]] Image read_upright_picture(const std::string& path);

// The pixels, as stored, of the picture that a file's bytes are; nothing if they are none. Throws
// as above.
[[nodiscard]] std::optional<Image> picture_in(const std::string& bytes, const std::string& path);

}  // namespace gpufilter
