#include "batch/output_folder.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/posix_file.hpp"

namespace gpufilter {

void create_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw PictureError(path, describe_system_error(error.value()));
}

void create_parent_folder(const std::string& path) {
  create_folder(std::filesystem::path(path).parent_path());
}

}  // namespace gpufilter
