// A picture's file whose bytes are hashed as they are read, so that the journal costs no second
// reading.
#pragma once

#include <memory>
#include <string>

#include "batch/file_content.hpp"
#include "codec/byte_source.hpp"

namespace gpufilter {

class HashedInput {
 public:
  // Takes the file's stamp. Throws PictureError if `path` does not lead to a regular file.
  explicit HashedInput(std::string path);
  ~HashedInput();
  HashedInput(const HashedInput&) = delete;
  HashedInput& operator=(const HashedInput&) = delete;

  // Opens the file at its beginning. Of several sources, the last one is hashed. It may be used and
  // destroyed by any thread, but not after content() was called. Throws PictureError.
  [[nodiscard]] std::unique_ptr<ByteSource> open();

  // Call once, after the picture was read from the source: reads the rest of the file, behind what
  // the decoder needed. The stamp is the one from before the file was opened. Throws PictureError
  // if the file has changed since. A file that was deleted meanwhile is read to its end.
  [[nodiscard]] FileContent content();

 private:
  class Hashed;
  class Source;

  std::string path_;
  FileContent content_;
  std::shared_ptr<Hashed> hashed_;
};

}  // namespace gpufilter
