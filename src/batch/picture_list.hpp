// The pictures of a folder, listed once: names below the folder, and sizes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/content_hash.hpp"
#include "batch/shard.hpp"

namespace gpufilter {

// Entries end in NUL or, where the text holds none, in a line end. An entry is "SIZE<tab>NAME" or,
// where the first one is not, NAME alone. So `find DIR -type f -printf '%s\t%P\0'` makes one. As in
// folders, only names that end like a picture's count, and hidden files and folders do not.
class PictureList {
 public:
  PictureList() = default;
  // Takes the sizes that `text` does not give from the files in `folder`; 0 where there is no such
  // file. Throws UsageError, naming `source`, where an entry is not a path below a folder, a size
  // is missing, or a name comes twice.
  PictureList(std::string text, const std::string& source, const std::string& folder);
  // Of names that are known to differ. Sorts them.
  explicit PictureList(std::vector<SizedName> pictures);

  // Sorted by the bytes of their names.
  [[nodiscard]] std::span<const SizedName> pictures() const { return pictures_; }
  [[nodiscard]] std::uint64_t bytes() const;  // of all
  // The form with sizes and NUL, in order: equal lists have equal texts.
  [[nodiscard]] std::string text() const;

 private:
  std::shared_ptr<const std::string> text_;  // which the names are parts of
  std::vector<SizedName> pictures_;
};

// Reads the list that is in the file `path`; "-" is standard input. Throws as the constructor does,
// and PictureError where it cannot be read.
[[nodiscard]] PictureList read_picture_list(const std::string& path, const std::string& folder);

}  // namespace gpufilter
