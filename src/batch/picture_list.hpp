// A list of a folder's pictures: their paths below the folder, and their sizes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/content_hash.hpp"
#include "batch/shard.hpp"

namespace gpufilter {

// Entries end in NUL or, if the text holds none, in a line end. An entry is "SIZE<tab>NAME" or, if
// the first one is not of this form, NAME alone. `find DIR -type f -printf '%s\t%P\0'` makes such a
// list. As in a scan, names that do not end like a picture's and hidden names are ignored; those
// that end like a picture of another format (see other_formats()) are kept apart.
class PictureList {
 public:
  PictureList() = default;
  // If `text` has no sizes, takes them from the files in `folder`; 0 if there is no such file.
  // Throws UsageError, which names `source`, if an entry is not a path below a folder, a size is
  // missing, or a name is listed twice.
  PictureList(std::string text, const std::string& source, const std::string& folder);
  // The names have to differ; they are sorted here.
  explicit PictureList(std::vector<SizedName> pictures, std::vector<SizedName> others = {});

  // Sorted by the bytes of their names.
  [[nodiscard]] std::span<const SizedName> pictures() const { return pictures_; }
  [[nodiscard]] std::uint64_t bytes() const;  // of all pictures
  // Pictures of other formats, also sorted.
  [[nodiscard]] std::span<const SizedName> others() const { return others_; }
  // The list with sizes and NUL, sorted, the others last: equal lists have equal texts.
  [[nodiscard]] std::string text() const;

 private:
  std::shared_ptr<const std::string> text_;  // the names point into it
  std::vector<SizedName> pictures_;
  std::vector<SizedName> others_;
};

// Reads the list in the file `path`; "-" is standard input. Throws as the constructor does, and
// PictureError if the file cannot be read.
[[nodiscard]] PictureList read_picture_list(const std::string& path, const std::string& folder);

}  // namespace gpufilter
