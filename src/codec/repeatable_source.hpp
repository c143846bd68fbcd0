// Input that is read more than once.
#pragma once

#include <memory>
#include <string>

#include "base/posix_file.hpp"
#include "codec/byte_source.hpp"

namespace gpufilter {

// Opens the same input repeatedly. If `repeat` is set, an input that can be read only once
// (standard input, a pipe) is first copied to an unnamed temporary file.
class RepeatableSource {
 public:
  // "-" is standard input. Throws PictureError as open_source() does, or if the copy fails.
  RepeatableSource(std::string path, bool repeat);

  // Opens it at its beginning; do not use sources from earlier calls. Throws PictureError.
  [[nodiscard]] std::unique_ptr<ByteSource> open() const;

 private:
  std::string path_;
  FileDescriptor copy_;  // none: the path itself can be opened repeatedly
};

}  // namespace gpufilter
