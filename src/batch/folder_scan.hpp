// Which pictures a folder holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/codec_table.hpp"

namespace gpufilter {

// A pattern for paths below a folder, as .gitignore and rsync have them.
class PathPattern {
 public:
  explicit PathPattern(std::string text);

  // Whether it means `path`, relative to the folder. Without a slash in its middle, the pattern is
  // compared with the last name of the path; otherwise with the whole path, in which "*" does not
  // match a slash and "**" any number of folders. With a slash at its end it means only folders.
  // Upper and lower case are the same.
  [[nodiscard]] bool matches(const std::string& path, bool is_folder) const;

 private:
  std::string text_;
  bool only_folders_ = false;
  bool is_name_ = false;
};

// Identifies a file or folder independently of its name.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;  // device, inode
// The identity of what `path` leads to; nothing if it leads nowhere.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path);

// The path of `inner` relative to `outer`, both without links, even if they do not exist yet: "."
// for the folder itself; empty if `inner` is not in it.
[[nodiscard]] std::filesystem::path path_within(const std::filesystem::path& inner,
                                                const std::filesystem::path& outer);

struct FoundFile {
  std::string relative;  // path below the scanned folder
  std::uint64_t bytes = 0;
  std::string problem;  // why it cannot be read; empty if its content begins like a picture's
};

// The name of a file that marks a folder with a page for browsers (html/page.hpp), whose
// pictures are previews. Scans do not enter such a folder below theirs.
inline constexpr const char* page_mark = ".gpufilter-report";

// Looks at `path`, a file that the user named. `relative` is its name without folders.
[[nodiscard]] FoundFile look_at(const std::string& path);

// A picture of a format that is not read, or that has another format's name.
struct OtherPicture {
  std::string name;    // its path
  std::string format;  // as other_format_of_name() says

  bool operator==(const OtherPicture&) const = default;
};

struct FolderScan {
  std::string folder;
  bool recursive = false;
  bool follow_links = false;  // enter links to folders too
  // File names have to match one of these by fnmatch(3), ignoring case; empty: any name.
  std::vector<std::string> patterns = {};
  // Files and folders that are skipped: PathPattern. always_excluded() is too.
  std::vector<std::string> excluded = {};
  // A folder that is not entered: the output folder.
  std::optional<std::string> left_out = {};
  bool look_inside = true;  // false: only names and sizes are read, and no file has a problem
};

struct ScanResult {
  std::vector<FoundFile> files;
  std::vector<OtherPicture> others;  // that match a pattern; their names are relative
  std::size_t unmatched = 0;         // files named like a picture that match no pattern
  std::size_t excluded = 0;          // the same that FolderScan::excluded leaves out
  std::size_t not_entered = 0;       // subfolders, if the scan is not recursive
};

// Whether a path below a folder leads through files that systems keep beside pictures: hidden ones,
// such as macOS's (".DS_Store", "._a.jpg"), thumbnails of Synology ("@eaDir") and Windows.
[[nodiscard]] bool always_excluded(std::string_view path);

// The files whose names end like a picture's, and the folders that cannot be read, sorted by the
// bytes of their relative paths. Pictures of other formats are recognised by the extensions of
// their names. An extension that says nothing, or none: by the first bytes, if the scan looks
// inside; but once 32 files with the same extension, or 1000 in all, were no pictures, such files
// are no longer opened. Other files are ignored; what is always_excluded() is skipped, and only
// regular files are ever opened. Links to files are followed. A folder that several paths lead to
// is scanned once, under its own name if that is one of them. Throws PictureError if `folder`
// itself cannot be read.
[[nodiscard]] ScanResult scan_folder(const FolderScan& scan);

}  // namespace gpufilter
