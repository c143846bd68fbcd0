// Lists a folder.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace gpufilter::test {

// The sorted names in a folder, including hidden ones.
inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gpufilter::test
