// Files that the build puts into the program (cmake/EmbedFiles.cmake).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace gpufilter {

// Their texts by name ("blur.cl").
using EmbeddedFiles = std::map<std::string, std::string_view, std::less<>>;

}  // namespace gpufilter
