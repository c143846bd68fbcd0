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

bool lies_in(const std::string& inner, const std::string& outer) {
  std::error_code ignored;
  // The dot also stands for the last part of a name that ends in a slash.
  const fs::path folder =
      fs::weakly_canonical(fs::absolute(fs::path(outer) / ".", ignored), ignored)
          .lexically_normal();
  const fs::path other = fs::weakly_canonical(fs::absolute(fs::path(inner) / ".", ignored), ignored)
                             .lexically_normal();
  const fs::path way = other.lexically_relative(folder);
  return !way.empty() && *way.begin() != "..";
}

}  // namespace gpufilter
