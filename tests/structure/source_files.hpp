// The project's own source files as text, for tests of how they are built up.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/pictures.hpp"

namespace gpufilter::test {

struct SourceFile {
  std::string path;  // from src/ on: "codec/codec.hpp"
  std::string text;

  [[nodiscard]] std::string folder() const { return path.substr(0, path.find('/')); }
};

// Every .cpp and .hpp under src/, sorted by path.
inline std::vector<SourceFile> library_sources() {
  const std::filesystem::path root = std::filesystem::path(GPUFILTER_SOURCE) / "src";
  std::vector<SourceFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::filesystem::path extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".hpp") continue;
    files.push_back(
        {entry.path().lexically_relative(root).generic_string(), read_file(entry.path().string())});
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace gpufilter::test
