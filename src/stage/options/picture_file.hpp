// Pictures that stages read whole.
#pragma once

#include <string>

#include "codec/read_limits.hpp"
#include "image/image.hpp"

namespace gpufilter {

// All pixels of a picture that will be laid over others, turned
// as its orientation says. Throws UsageError "PATH: reason", also if
// they and what overlay_pixels() makes of them take more memory than `limits` allow.
[[nodiscard]] Image read_overlay(const std::string& path, const ReadLimits& limits);

}  // namespace gpufilter
