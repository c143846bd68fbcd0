#include "batch/output_folder.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"

namespace gpufilter {

void create_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw SystemFailure(path, error.value());
}

void create_parent_folder(const std::string& path) {
  create_folder(std::filesystem::path(path).parent_path());
}

void sync_folder(const std::string& path) {
  const FileDescriptor folder = open_file(path, O_RDONLY | O_DIRECTORY);
  if (::fsync(folder.get()) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) {
    throw std::system_error(errno, std::generic_category());
  }
}

}  // namespace gpufilter
