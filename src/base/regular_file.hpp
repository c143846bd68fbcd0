// Files that are read whole: those that the program keeps for itself, such as caches and journals,
// and those that options name. Anything may lie under their names, such as a pipe, a device or
// gigabytes of zeros.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>

#include "base/posix_file.hpp"

namespace gpufilter {

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

}  // namespace gpufilter
