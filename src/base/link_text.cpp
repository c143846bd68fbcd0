#include "base/link_text.hpp"

#include <filesystem>
#include <system_error>

#include "base/format.hpp"

namespace gpufilter {

std::string link_text(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::read_symlink(path, error);
  return error ? "" : formatted("{} is a link to {}", path, target.string());
}

}  // namespace gpufilter
