#include "batch/file_content.hpp"

#include <cerrno>
#include <chrono>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/files.hpp"

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

// The opened file, and the hash of what was read of it. Outlives the decoder, which may drop its
// source as soon as it has the last pixel.
class HashedInput::Hashed {
 public:
  explicit Hashed(std::unique_ptr<ByteSource> file) : file_(std::move(file)) {}

  [[nodiscard]] ByteSource& file() { return *file_; }

  std::size_t read(std::span<std::uint8_t> buffer) {
    const std::size_t count = file_->read(buffer);
    hasher_.add(buffer.first(count));
    return count;
  }

  [[nodiscard]] ContentHash hash_to_the_end() {
    constexpr std::size_t step = std::size_t{256} << 10U;
    std::vector<std::uint8_t> rest(step);
    while (read(rest) == rest.size()) {
    }
    return hasher_.result();
  }

 private:
  std::unique_ptr<ByteSource> file_;
  ContentHasher hasher_;
};

// The source for the decoder.
class HashedInput::Source final : public ByteSource {
 public:
  explicit Source(std::shared_ptr<Hashed> hashed) : hashed_(std::move(hashed)) {}

  [[nodiscard]] const std::string& name() const override { return hashed_->file().name(); }
  std::size_t read(std::span<std::uint8_t> buffer) override { return hashed_->read(buffer); }
  std::span<const std::uint8_t> peek(std::size_t count) override {
    return hashed_->file().peek(count);
  }
  [[nodiscard]] std::optional<std::uint64_t> size() const override {
    return hashed_->file().size();
  }
  // Not hashed: content() reads everything that was not read sequentially.
  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> buffer) override {
    return hashed_->file().read_at(offset, buffer);
  }

 private:
  std::shared_ptr<Hashed> hashed_;
};

HashedInput::HashedInput(std::string path)
    : path_(std::move(path)), content_(unread_content(path_)) {}
HashedInput::~HashedInput() = default;

std::unique_ptr<ByteSource> HashedInput::open() {
  hashed_ = std::make_shared<Hashed>(open_source(path_));
  return std::make_unique<Source>(hashed_);
}

FileContent HashedInput::content() {
  if (!hashed_) throw std::logic_error("the input was not opened");
  content_.hash = hashed_->hash_to_the_end();
  const auto after = stamp_of(path_);
  if (after && !after->same_content(content_.stamp)) {
    throw PictureError(path_, "it changed while it was being read");
  }
  return content_;
}

}  // namespace gpufilter
