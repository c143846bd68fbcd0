#include "base/files.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.hpp"

namespace gpufilter {
namespace {

[[noreturn]] void throw_errno() {
  throw std::system_error(errno, std::generic_category());
}

// Calls transfer(bytes done so far), which returns what read(2) and write(2) do, until `size` bytes
// are done or it transfers none. Returns the number of bytes.
template <typename Transfer>
std::size_t transferred(std::size_t size, const Transfer& transfer) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = transfer(done);
    if (count == 0) break;
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      throw_errno();
    }
  }
  return done;
}

constexpr const char* not_regular = "is not a regular file";

struct stat status_of(const FileDescriptor& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw std::system_error(errno, std::generic_category());
  return status;
}

[[noreturn]] void throw_too_large(std::uint64_t limit) {
  const bool is_small = limit < std::uint64_t{1} << 20U;
  throw UnsuitableFile(
      formatted("is larger than {} {}", limit >> (is_small ? 10U : 20U), is_small ? "KiB" : "MiB"));
}

// Why open(2) failed, in words about the file itself if it is not a regular one. ENXIO means a
// socket, or a pipe that nobody reads.
void throw_if_unsuitable(const std::string& path, int error) {
  struct stat status {};
  if (error == ENXIO) throw UnsuitableFile(not_regular);
  if (error == ELOOP && ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode))
    throw UnsuitableFile("is a symbolic link");
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
  return transferred(buffer.size(), [&](std::size_t done) {
    return ::read(descriptor, buffer.data() + done, buffer.size() - done);
  });
}

void write_fully(int descriptor, std::span<const std::uint8_t> bytes) {
  const std::size_t done = transferred(bytes.size(), [&](std::size_t begin) {
    return ::write(descriptor, bytes.data() + begin, bytes.size() - begin);
  });
  if (done < bytes.size()) throw std::system_error(EIO, std::generic_category());
}

std::size_t read_fully_at(int descriptor, std::uint64_t offset, std::span<std::uint8_t> buffer) {
  return transferred(buffer.size(), [&](std::size_t done) {
    return ::pread(descriptor, buffer.data() + done, buffer.size() - done,
                   static_cast<off_t>(offset + done));
  });
}

void write_fully_at(int descriptor, std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  const std::size_t done = transferred(bytes.size(), [&](std::size_t begin) {
    return ::pwrite(descriptor, bytes.data() + begin, bytes.size() - begin,
                    static_cast<off_t>(offset + begin));
  });
  if (done < bytes.size()) throw std::system_error(EIO, std::generic_category());
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
      return "the file would exceed the file size limit (ulimit -f) or the file system's";
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

UnsuitableFile::UnsuitableFile(std::string reason)
    : std::system_error(EINVAL, std::generic_category()), reason_(std::move(reason)) {}

bool is_unsuitable(const std::system_error& error) {
  return dynamic_cast<const UnsuitableFile*>(&error) != nullptr;
}

std::string reason_of(const std::system_error& error) {
  return is_unsuitable(error) ? error.what() : describe_system_error(error.code().value());
}

// A device is opened before it is known to be one; O_NOCTTY is for terminals.
FileDescriptor open_regular_file(const std::string& path, int flags, unsigned mode) {
  try {
    FileDescriptor file = open_file(path, flags | O_NONBLOCK | O_NOCTTY, mode);
    const struct stat status = status_of(file);
    if (S_ISDIR(status.st_mode)) throw std::system_error(EISDIR, std::generic_category());
    if (!S_ISREG(status.st_mode)) throw UnsuitableFile(not_regular);
    return file;
  } catch (const std::system_error& error) {
    throw_if_unsuitable(path, error.code().value());
    throw;
  }
}

std::string read_regular_file(const std::string& path, std::uint64_t limit) {
  return read_regular_file(open_regular_file(path, O_RDONLY), limit);
}

// Another process may append to the file meanwhile, and some file systems report no size.
std::string read_regular_file(const FileDescriptor& file, std::uint64_t limit) {
  constexpr std::uint64_t step = std::uint64_t{64} << 10U;
  const auto bytes = static_cast<std::uint64_t>(status_of(file).st_size);
  if (bytes > limit) throw_too_large(limit);
  std::string text;
  for (std::size_t wanted = std::max(bytes + 1, step);; wanted = step) {
    const std::size_t size = text.size();
    text.resize(size + wanted);
    const std::size_t got =
        read_fully(file.get(), {reinterpret_cast<std::uint8_t*>(text.data()) + size, wanted});
    text.resize(size + got);
    if (text.size() > limit) throw_too_large(limit);
    if (got < wanted) return text;
  }
}

std::string read_file_or_pipe(const std::string& path, std::uint64_t limit) {
  const FileDescriptor file = open_file(path, O_RDONLY | O_NOCTTY);
  const bool is_device = S_ISCHR(status_of(file).st_mode) && ::isatty(file.get()) == 0;
  if (!is_device) return read_regular_file(file, limit);
  std::array<std::uint8_t, 1> byte{};
  if (read_fully(file.get(), byte) > 0) throw UnsuitableFile(not_regular);
  return "";
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

bool is_regular_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::uint64_t bytes_of_file(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

}  // namespace gpufilter
