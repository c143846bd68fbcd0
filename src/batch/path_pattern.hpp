// Patterns for paths below a folder, as .gitignore and rsync have them.
#pragma once

#include <string>

namespace gpufilter {

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

}  // namespace gpufilter
