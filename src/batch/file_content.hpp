// Whether a file is still the one that it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/content_hash.hpp"

namespace gpufilter {

// What the file system says of a file without reading it. Times in nanoseconds since the epoch.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  std::int64_t modified = 0;
  std::int64_t changed = 0;  // ctime, which programs cannot set

  bool operator==(const FileStamp&) const = default;
  // Whether the file is the same, other things (its mode, its links) apart.
  [[nodiscard]] bool same_content(const FileStamp& other) const {
    return bytes == other.bytes && inode == other.inode && modified == other.modified;
  }
};

// Of the plain file that `path` leads to; nothing where there is none.
[[nodiscard]] std::optional<FileStamp> stamp_of(const std::string& path);

struct FileContent {
  FileStamp stamp;  // from before it was read
  ContentHash hash;
  // Whether an equal stamp means equal contents from now on. Not so for a file that was changed
  // just now: a second change could bear the same time.
  bool settled = false;
};

// Reads the whole file. Throws PictureError.
[[nodiscard]] FileContent content_of(const std::string& path);

}  // namespace gpufilter
