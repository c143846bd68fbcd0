// Drivers' texts, shortened to fit on a line.
#pragma once

#include <string>

namespace gpufilter {

// An OpenCL version text without the build options that PoCL appends to it after two spaces.
[[nodiscard]] inline std::string brief_version(const std::string& text) {
  return text.substr(0, text.find("  "));
}

}  // namespace gpufilter
