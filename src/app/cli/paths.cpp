#include "app/cli/paths.hpp"

#include <filesystem>

#include "base/files.hpp"

namespace gpufilter {

namespace fs = std::filesystem;

bool is_folder_argument(const std::string& path) {
  return path != standard_stream && is_folder(path);
}

bool same_file(const std::string& a, const std::string& b) {
  if (a == standard_stream || b == standard_stream) return false;
  std::error_code ignored;
  if (fs::equivalent(a, b, ignored)) return true;
  const fs::path path = fs::weakly_canonical(fs::absolute(a, ignored), ignored);
  return !path.empty() && path == fs::weakly_canonical(fs::absolute(b, ignored), ignored);
}

}  // namespace gpufilter
