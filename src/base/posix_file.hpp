// POSIX files; handles interrupted calls, short reads and writes, and closing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

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

// An errno in plain words, beginning in lower case: "no such file", "permission denied".
[[nodiscard]] std::string describe_system_error(int error);

// "link.png is a link to a.png"; empty if `path` is not a symbolic link.
[[nodiscard]] std::string link_text(const std::string& path);

}  // namespace gpufilter
