// POSIX files: interrupted calls, short reads and writes, closing; and files that are read whole:
// the program's own, such as caches and journals, and those that options name. These names may lead
// to anything, such as a pipe, a device or gigabytes of zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace gpufilter {

// Owns an open file descriptor, or none (-1). Move-only.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    reset(std::exchange(other.descriptor_, -1));
    return *this;
  }

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] explicit operator bool() const { return descriptor_ >= 0; }
  void reset(int descriptor = -1) noexcept;
  // Closes it. Throws std::system_error if the file system reports an error only now.
  void close();

 private:
  int descriptor_ = -1;
};

// open(2) with O_CLOEXEC; `mode` is used if the file is created. Throws std::system_error.
[[nodiscard]] FileDescriptor open_file(const std::string& path, int flags, unsigned mode = 0);

// Reads until `buffer` is full or the file ends. Returns the number of bytes. Throws
// std::system_error.
[[nodiscard]] std::size_t read_fully(int descriptor, std::span<std::uint8_t> buffer);

// Throws std::system_error.
void write_fully(int descriptor, std::span<const std::uint8_t> bytes);

// At an offset, whatever the position of the file is.
[[nodiscard]] std::size_t read_fully_at(int descriptor, std::uint64_t offset,
                                        std::span<std::uint8_t> buffer);
void write_fully_at(int descriptor, std::uint64_t offset, std::span<const std::uint8_t> bytes);

// An errno in plain words, beginning in lower case: "no such file", "permission denied".
[[nodiscard]] std::string describe_system_error(int error);

// Calls step(), whose std::system_error becomes a Failure with the file `name`.
template <typename Failure = SystemFailure, typename Step>
auto with_failures_of(const std::string& name, const Step& step) {
  try {
    return step();
  } catch (const std::system_error& error) {
    throw Failure(name, error.code().value());
  }
}

// "link.png is a link to a.png"; empty if `path` is not a symbolic link.
[[nodiscard]] std::string link_text(const std::string& path);

// The file is not of the kind or size that the program uses. what() is the reason, for a message
// after the file's path: "is not a regular file".
class UnsuitableFile : public std::system_error {
 public:
  explicit UnsuitableFile(std::string reason);
  [[nodiscard]] const char* what() const noexcept override { return reason_.c_str(); }

 private:
  std::string reason_;
};

[[nodiscard]] bool is_unsuitable(const std::system_error& error);

// The words for a failure with a file, to be put after its path.
[[nodiscard]] std::string reason_of(const std::system_error& error);

// As open_file(), but never waits, and opens only regular files. Throws UnsuitableFile for others,
// std::system_error.
[[nodiscard]] FileDescriptor open_regular_file(const std::string& path, int flags,
                                               unsigned mode = 0);

// The contents of a regular file. Throws UnsuitableFile if it has more than `limit` bytes or is not
// a regular file, std::system_error.
[[nodiscard]] std::string read_regular_file(const std::string& path, std::uint64_t limit);
// The content of an open file, from its position on.
[[nodiscard]] std::string read_regular_file(const FileDescriptor& file, std::uint64_t limit);

// The content of a file that the user names, which may also be a pipe, a terminal or /dev/null.
// Throws UnsuitableFile for other devices, which may have no end.
[[nodiscard]] std::string read_file_or_pipe(const std::string& path, std::uint64_t limit);

// Whether `path` leads to anything, to a folder, to a regular file. False if that cannot be found
// out.
[[nodiscard]] bool exists(const std::string& path);
[[nodiscard]] bool is_folder(const std::string& path);
[[nodiscard]] bool is_regular_file(const std::string& path);

// The size of a file; 0 if there is none.
[[nodiscard]] std::uint64_t bytes_of_file(const std::string& path);

}  // namespace gpufilter
