#include "batch/file_content.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/system_failure.hpp"

namespace gpufilter {
namespace {

constexpr const char* no_longer_regular = "is no longer a regular file";
constexpr std::int64_t second = 1'000'000'000;
// The coarsest timestamps of any file system are FAT's, in steps of two seconds.
constexpr std::int64_t settling_time = 3 * second;

std::int64_t nanoseconds(const struct timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * second + time.tv_nsec;
}

FileStamp stamp(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_size), status.st_ino, nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim)};
}

std::int64_t wall_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

FileContent unread_content(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) throw PictureError(path, no_longer_regular);
  FileContent content;
  content.stamp = stamp(status);
  content.settled = wall_clock() - content.stamp.changed > settling_time;
  return content;
}

ContentHash hash_of(int descriptor) {
  constexpr std::size_t step = std::size_t{256} << 10U;
  static thread_local std::vector<std::uint8_t> buffer(step);
  ContentHasher hasher;
  for (std::size_t got = step; got == step;) {
    got = read_fully(descriptor, buffer);
    hasher.add({buffer.data(), got});
  }
  return hasher.result();
}

}  // namespace

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return stamp(status);
}

FileContent unread_content(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw SystemFailure(path, errno);
  return unread_content(path, status);
}

FileContent content_of(const std::string& path) {
  try {
    const FileDescriptor file = open_regular_file(path, O_RDONLY);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) throw std::system_error(errno, std::generic_category());
    FileContent content = unread_content(path, status);
    content.hash = hash_of(file.get());
    return content;
  } catch (const UnsuitableFile&) {
    throw PictureError(path, no_longer_regular);
  } catch (const std::system_error& error) {
    throw SystemFailure(path, error.code().value());
  }
}

}  // namespace gpufilter
