// Whether a file has changed: by its stamp, or by a hash of its contents.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/content_hash.hpp"
#include "codec/byte_source.hpp"

namespace gpufilter {

// The state of a file by stat(2). Times are in nanoseconds since the epoch.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  std::int64_t modified = 0;
  std::int64_t changed = 0;  // ctime, which programs cannot set

  bool operator==(const FileStamp&) const = default;
  // Whether it is the same file with the same contents; its mode and links may differ.
  [[nodiscard]] bool same_content(const FileStamp& other) const {
    return bytes == other.bytes && inode == other.inode && modified == other.modified;
  }
};

// The stamp of the regular file that `path` leads to; nothing if there is none.
[[nodiscard]] std::optional<FileStamp> stamp_of(const std::string& path);

struct FileContent {
  FileStamp stamp;  // taken before the file was read
  ContentHash hash;
  // Whether an equal stamp means equal contents from now on. It does not if the file was changed
  // just now: another change could have the same time.
  bool settled = false;
};

// Reads the whole file. Throws PictureError.
[[nodiscard]] FileContent content_of(const std::string& path);

// The content without its hash, for a file that is about to be read. Throws PictureError if `path`
// does not lead to a regular file.
[[nodiscard]] FileContent unread_content(const std::string& path);

// A picture's file whose bytes are hashed as they are read, so that the journal costs no second
// reading.
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

  // Call once, after the picture was read from the source: reads the rest of the file, after the
  // part that the decoder needed. The stamp dates from before the file was opened. Throws
  // PictureError if the file has changed since. A file that was deleted meanwhile is read to its
  // end.
  [[nodiscard]] FileContent content();

 private:
  class Hashed;
  class Source;

  std::string path_;
  FileContent content_;
  std::shared_ptr<Hashed> hashed_;
};

}  // namespace gpufilter
