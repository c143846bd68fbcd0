#include "base/posix_file.hpp"

#include <cctype>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/format.hpp"

namespace gpufilter {
namespace {

[[noreturn]] void throw_errno() {
  throw std::system_error(errno, std::generic_category());
}

}  // namespace

// close(2) is never repeated: on Linux the descriptor is gone even after EINTR.
void FileDescriptor::reset(int descriptor) noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = descriptor;
}

void FileDescriptor::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR) throw_errno();
}

FileDescriptor open_file(const std::string& path, int flags, unsigned mode) {
  while (true) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    if (descriptor >= 0) return FileDescriptor(descriptor);
    if (errno != EINTR) throw_errno();
  }
}

std::size_t read_fully(int descriptor, std::span<std::uint8_t> buffer) {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t count = ::read(descriptor, buffer.data() + done, buffer.size() - done);
    if (count == 0) break;
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      throw_errno();
    }
  }
  return done;
}

void write_fully(int descriptor, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      throw_errno();
    }
  }
}

std::string describe_system_error(int error) {
  switch (error) {
    case ENOENT:
      return "no such file";
    case EISDIR:
      return "is a folder";
    case ENOTDIR:
      return "a part of the path is not a folder";
    case ENOSPC:
      return "no space left on the device";
    case EPIPE:
      return "the reader closed the pipe";
    case EFBIG:
      return "the file would exceed the file size limit (ulimit -f) or that of the file system";
    default:
      break;
  }
  std::string words = std::generic_category().message(error);
  if (!words.empty()) {
    words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
  }
  return words;
}

std::string link_text(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::read_symlink(path, error);
  return error ? "" : formatted("{} is a link to {}", path, target.string());
}

}  // namespace gpufilter
