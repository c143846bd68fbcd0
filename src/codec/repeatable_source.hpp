// Input that is read more than once.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/files.hpp"
#include "codec/byte_source.hpp"

namespace gpufilter {

// How a path is opened, as open_source() does.
using OpenSource = std::function<std::unique_ptr<ByteSource>(const std::string& path)>;

// Whether `path` can be read or written only once: "-" (standard input or output), a pipe, a
// device.
[[nodiscard]] bool is_stream(const std::string& path);

// Opens the same input repeatedly. If `repeat` is set, an input that can be read only once
// (standard input, a pipe) is first copied to an unnamed temporary file.
class RepeatableSource {
 public:
  // "-" is standard input. Throws PictureError as `open` does, or if the copy fails.
  RepeatableSource(std::string path, bool repeat, OpenSource open = open_source);

  // Opens it at its beginning; do not use sources from earlier calls. Throws PictureError.
  [[nodiscard]] std::unique_ptr<ByteSource> open() const;

 private:
  std::string path_;
  OpenSource open_;
  FileDescriptor copy_;  // none: the path itself can be opened repeatedly
};

// `source`, which nothing has been read from, if its read_at() works; otherwise a copy of it in an
// unnamed temporary file. Throws PictureError if the copy fails.
[[nodiscard]] std::unique_ptr<ByteSource> random_access(std::unique_ptr<ByteSource> source);

// A new temporary file without a name. Throws std::system_error.
[[nodiscard]] FileDescriptor nameless_file();

}  // namespace gpufilter
