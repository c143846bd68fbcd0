#include "base/folder.hpp"

#include <filesystem>

namespace gpufilter {

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

}  // namespace gpufilter
