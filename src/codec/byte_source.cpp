#include "codec/byte_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/stop.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t source_buffer_size = std::size_t{256} * 1024;

class DescriptorSource final : public ByteSource {
 public:
  // `owned` may be empty: standard input is not ours to close.
  DescriptorSource(int descriptor, FileDescriptor owned, std::string name)
      : descriptor_(descriptor),
        owned_(std::move(owned)),
        name_(std::move(name)),
        buffer_(source_buffer_size),
        start_(::lseek(descriptor, 0, SEEK_CUR)) {}

  [[nodiscard]] const std::string& name() const override { return name_; }

  std::size_t read(std::span<std::uint8_t> buffer) override {
    std::size_t done = 0;
    while (done < buffer.size()) {
      if (begin_ == end_) {
        const auto rest = buffer.subspan(done);
        if (rest.size() >= buffer_.size()) return done + fetch(rest);
        begin_ = 0;
        end_ = fetch(buffer_);
        if (end_ == 0) break;
      }
      const std::size_t count = std::min(buffer.size() - done, end_ - begin_);
      std::memcpy(buffer.data() + done, buffer_.data() + begin_, count);
      begin_ += count;
      done += count;
    }
    return done;
  }

  [[nodiscard]] std::optional<std::uint64_t> size() const override {
    struct stat status {};
    if (start_ < 0 || ::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return {};
    return static_cast<std::uint64_t>(std::max<off_t>(status.st_size - start_, 0));
  }

  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> buffer) override {
    check_stop();
    return with_failures_of(name_, [&] {
      return read_fully_at(descriptor_, static_cast<std::uint64_t>(start_) + offset, buffer);
    });
  }

  void skip(std::uint64_t count) override {
    const std::uint64_t buffered = std::min<std::uint64_t>(count, end_ - begin_);
    begin_ += static_cast<std::size_t>(buffered);
    count -= buffered;
    // Shorter ways are read: the buffer is filled at once.
    if (count > buffer_.size() && !ended_ &&
        ::lseek(descriptor_, static_cast<off_t>(count), SEEK_CUR) >= 0) {
      return;
    }
    ByteSource::skip(count);
  }

  std::span<const std::uint8_t> peek(std::size_t count) override {
    if (end_ - begin_ < count) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= std::exchange(begin_, 0);
      end_ += fetch(std::span(buffer_).subspan(end_));
    }
    return {buffer_.data() + begin_, std::min(count, end_ - begin_)};
  }

 private:
  // After the end nothing more is read: a terminal would wait for another end.
  std::size_t fetch(std::span<std::uint8_t> into) {
    check_stop();
    if (ended_) return 0;
    const std::size_t count =
        with_failures_of(name_, [&] { return read_fully(descriptor_, into); });
    ended_ = count < into.size();
    return count;
  }

  int descriptor_;
  FileDescriptor owned_;
  std::string name_;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  off_t start_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::vector<std::uint8_t> data, std::string name)
      : data_(std::move(data)), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const override { return name_; }

  std::size_t read(std::span<std::uint8_t> buffer) override {
    check_stop();
    const auto bytes = peek(buffer.size());
    std::copy(bytes.begin(), bytes.end(), buffer.begin());
    position_ += bytes.size();
    return bytes.size();
  }

  std::span<const std::uint8_t> peek(std::size_t count) override {
    return std::span<const std::uint8_t>(data_).subspan(position_).first(
        std::min(count, data_.size() - position_));
  }

  [[nodiscard]] std::optional<std::uint64_t> size() const override { return data_.size(); }

  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> buffer) override {
    if (offset >= data_.size()) return 0;
    const auto from = std::span<const std::uint8_t>(data_).subspan(offset);
    const std::size_t count = std::min(buffer.size(), from.size());
    std::copy_n(from.begin(), count, buffer.begin());
    return count;
  }

 private:
  std::vector<std::uint8_t> data_;
  std::string name_;
  std::size_t position_ = 0;
};

FileDescriptor copy_of(ByteSource& source) {
  constexpr std::size_t step = std::size_t{1} << 20U;
  try {
    FileDescriptor file = nameless_file();
    std::vector<std::uint8_t> buffer(step);
    for (std::size_t got = step; got == step;) {
      got = source.read(buffer);
      write_fully(file.get(), {buffer.data(), got});
    }
    return file;
  } catch (const std::system_error& error) {
    throw PictureError(source.name(), "it has to be copied to a temporary file, which fails in " +
                                          std::filesystem::temp_directory_path().string() + ": " +
                                          describe_system_error(error.code().value()));
  }
}

}  // namespace

void ByteSource::skip(std::uint64_t count) {
  std::array<std::uint8_t, 16384> piece{};
  while (count > 0) {
    const auto part = std::span(piece).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(count, piece.size())));
    if (read(part) < part.size()) return;
    count -= part.size();
  }
}

std::size_t ByteSource::read_at(std::uint64_t /*offset*/, std::span<std::uint8_t> /*buffer*/) {
  throw std::logic_error("the source has no size");
}

void read_all(ByteSource& source, std::span<std::uint8_t> buffer) {
  if (source.read(buffer) < buffer.size()) throw PictureError(source.name(), file_ends_early);
}

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  if (path == "-") {
    return std::make_unique<DescriptorSource>(STDIN_FILENO, FileDescriptor(), "standard input");
  }
  return with_failures_of(path, [&] {
    FileDescriptor file = open_file(path, O_RDONLY | O_NOCTTY);
    struct stat status {};
    if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
      throw std::system_error(EISDIR, std::generic_category());
    }
    // Only a hint, so its result does not matter; pipes do not support it.
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    return descriptor_source(std::move(file), path);
  });
}

std::unique_ptr<ByteSource> descriptor_source(FileDescriptor file, std::string name) {
  const int descriptor = file.get();
  return std::make_unique<DescriptorSource>(descriptor, std::move(file), std::move(name));
}

std::unique_ptr<ByteSource> source_from_start(const FileDescriptor& file, const std::string& name) {
  FileDescriptor again(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  if (!again || ::lseek(again.get(), 0, SEEK_SET) != 0) throw SystemFailure(name, errno);
  return descriptor_source(std::move(again), name);
}

std::unique_ptr<ByteSource> memory_source(std::vector<std::uint8_t> data, std::string name) {
  return std::make_unique<MemorySource>(std::move(data), std::move(name));
}

bool is_stream(const std::string& path) {
  return path == "-" || (exists(path) && !is_regular_file(path));
}

FileDescriptor nameless_file() {
  std::string name = std::filesystem::temp_directory_path() / "gpufilter-XXXXXX";
  FileDescriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) throw std::system_error(errno, std::generic_category());
  ::unlink(name.c_str());
  return file;
}

RepeatableSource::RepeatableSource(std::string path, bool repeat, OpenSource open)
    : path_(std::move(path)), open_(std::move(open)) {
  if (!repeat || !is_stream(path_)) return;
  const auto source = open_(path_);
  // Nothing else is copied: a device may have no end.
  const auto head = source->peek(recognition_size());
  if (codec_of_content(head) == nullptr) throw PictureError(source->name(), no_picture(head));
  copy_ = copy_of(*source);
}

std::unique_ptr<ByteSource> RepeatableSource::open() const {
  if (!copy_) return open_(path_);
  return source_from_start(copy_, path_ == "-" ? "standard input" : path_);
}

std::unique_ptr<ByteSource> random_access(std::unique_ptr<ByteSource> source) {
  if (source->size()) return source;
  return source_from_start(copy_of(*source), source->name());
}

}  // namespace gpufilter
