// The project's own source files as text, for tests of how they are built up.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/pictures.hpp"

namespace gpufilter::test {

struct SourceFile {
  std::string path;  // below src/: "codec/codec.hpp"; of the laboratory: "lab/random_data.hpp"
  std::string text;

  [[nodiscard]] std::string folder() const { return path.substr(0, path.find('/')); }
};

// Every .cpp and .hpp of the program, below src/ and lab/ but for lab/peers, sorted by path.
inline std::vector<SourceFile> program_sources() {
  const std::filesystem::path project = GPUFILTER_SOURCE;
  std::vector<SourceFile> files;
  for (const auto& [folder, root] :
       {std::pair{"src", project / "src"}, std::pair{"lab", project}}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(project / folder)) {
      const std::filesystem::path extension = entry.path().extension();
      const std::string path = entry.path().lexically_relative(root).generic_string();
      if ((extension == ".cpp" || extension == ".hpp") && !path.starts_with("lab/peers/"))
        files.push_back({path, read_file(entry.path().string())});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace gpufilter::test
