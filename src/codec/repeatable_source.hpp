// Input that is read more than once.
#pragma once

#include <memory>
#include <string>

#include "base/posix_file.hpp"
#include "codec/byte_source.hpp"

namespace gpufilter {

// Opens the same input again and again. What can be read only once (standard input, a pipe) is
// first copied to a temporary file without a name, where `repeat` says that once is not enough.
class RepeatableSource {
 public:
  // "-" is standard input. Throws PictureError as open_source() does, or where the copy fails.
  RepeatableSource(std::string path, bool repeat);

  // From its beginning; a source opened before is no longer used. Throws PictureError.
  [[nodiscard]] std::unique_ptr<ByteSource> open() const;

 private:
  std::string path_;
  FileDescriptor copy_;  // none: the path itself can be opened as often as needed
};

}  // namespace gpufilter
