#include "codec/byte_sink.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/stop.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t sink_buffer_size = std::size_t{256} * 1024;

// Gathers small writes and turns the operating system's failures into PictureError.
class BufferedSink : public ByteSink {
 public:
  explicit BufferedSink(std::string name) : name_(std::move(name)) {
    buffer_.reserve(sink_buffer_size);
  }

  [[nodiscard]] const std::string& name() const final { return name_; }
  [[nodiscard]] std::uint64_t bytes_written() const final { return bytes_written_; }

  void write(std::span<const std::uint8_t> bytes) final {
    bytes_written_ += bytes.size();
    if (buffer_.size() + bytes.size() > sink_buffer_size) flush();
    if (bytes.size() >= sink_buffer_size) {
      with_failures_of(name_, [&] { put(bytes); });
    } else {
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    }
  }

  void commit() final {
    flush();
    check_stop();
    with_failures_of(name_, [&] { complete(); });
  }

 private:
  virtual void put(std::span<const std::uint8_t> bytes) = 0;
  virtual void complete() = 0;

  void flush() {
    check_stop();
    with_failures_of(name_, [&] { put(buffer_); });
    buffer_.clear();
  }

  std::string name_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t bytes_written_ = 0;
};

class FileSink final : public BufferedSink {
 public:
  explicit FileSink(const std::string& path) : BufferedSink(path), file_(path) {}

 private:
  void put(std::span<const std::uint8_t> bytes) override { file_.write(bytes); }
  void complete() override { file_.commit(); }

  AtomicFile file_;
};

// Pipes, devices and standard output: data is written immediately.
class StreamSink final : public BufferedSink {
 public:
  // `owned` may be empty: standard output is not ours to close.
  StreamSink(int descriptor, FileDescriptor owned, std::string name)
      : BufferedSink(std::move(name)), descriptor_(descriptor), owned_(std::move(owned)) {}

 private:
  void put(std::span<const std::uint8_t> bytes) override {
    try {
      write_fully(descriptor_, bytes);
    } catch (const std::system_error& error) {
      if (!owned_ && error.code().value() == EPIPE) throw ClosedPipe();
      throw;
    }
  }
  void complete() override { owned_.close(); }

  int descriptor_;
  FileDescriptor owned_;
};

class MemorySink final : public ByteSink {
 public:
  MemorySink(std::vector<std::uint8_t>& destination, std::string name)
      : destination_(destination), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t bytes_written() const override { return bytes_written_; }

  void write(std::span<const std::uint8_t> bytes) override {
    check_stop();
    destination_.insert(destination_.end(), bytes.begin(), bytes.end());
    bytes_written_ += bytes.size();
  }

  void commit() override {}

 private:
  std::vector<std::uint8_t>& destination_;
  std::string name_;
  std::uint64_t bytes_written_ = 0;
};

bool exists_and_is_stream(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

// A missing output folder is the most likely reason why a file cannot be created, and its errno is
// the least clear.
std::string describe_creation_error(const std::string& path, int error) {
  if (error == ENOENT) {
    const auto folder = std::filesystem::path(path).parent_path();
    if (folder.empty() || exists(folder.string())) return "leads to a folder that does not exist";
    return formatted("the folder {} does not exist: create it first", folder.string());
  }
  if (error == EISDIR) return "is a folder: name the file to write";
  return "cannot be created: " + describe_system_error(error);
}

std::unique_ptr<ByteSink> open_sink(const std::string& path) {
  if (path == "-") {
    return std::make_unique<StreamSink>(STDOUT_FILENO, FileDescriptor(), "standard output");
  }
  try {
    if (exists_and_is_stream(path)) {
      FileDescriptor stream = open_file(path, O_WRONLY | O_NOCTTY);
      const int descriptor = stream.get();
      return std::make_unique<StreamSink>(descriptor, std::move(stream), path);
    }
    return std::make_unique<FileSink>(path);
  } catch (const std::system_error& error) {
    const int reason = error.code().value();
    throw SystemFailure(path, describe_creation_error(path, reason), reason);
  }
}

std::unique_ptr<ByteSink> memory_sink(std::vector<std::uint8_t>& destination, std::string name) {
  return std::make_unique<MemorySink>(destination, std::move(name));
}

}  // namespace gpufilter
