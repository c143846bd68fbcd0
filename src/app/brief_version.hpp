// Drivers' texts, short enough for a line.
#pragma once

#include <string>

namespace gpufilter {

// An OpenCL version text without what PoCL appends to it after two spaces: the options that it was
// built with.
[[nodiscard]] inline std::string brief_version(const std::string& text) {
  return text.substr(0, text.find("  "));
}

}  // namespace gpufilter
