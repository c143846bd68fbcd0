#include "codec/repeatable_source.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "codec/codec_table.hpp"
#include "codec/other_formats.hpp"

namespace gpufilter {
namespace {

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

bool is_stream(const std::string& path) {
  std::error_code ignored;
  return path == "-" || (std::filesystem::exists(path, ignored) &&
                         !std::filesystem::is_regular_file(path, ignored));
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
  const std::string name = path_ == "-" ? "standard input" : path_;
  FileDescriptor again(::fcntl(copy_.get(), F_DUPFD_CLOEXEC, 0));
  if (!again || ::lseek(again.get(), 0, SEEK_SET) != 0) {
    throw PictureError(name, describe_system_error(errno));
  }
  return descriptor_source(std::move(again), name);
}

std::unique_ptr<ByteSource> random_access(std::unique_ptr<ByteSource> source) {
  if (source->size()) return source;
  FileDescriptor copy = copy_of(*source);
  if (::lseek(copy.get(), 0, SEEK_SET) != 0) {
    throw PictureError(source->name(), describe_system_error(errno));
  }
  return descriptor_source(std::move(copy), source->name());
}

}  // namespace gpufilter
