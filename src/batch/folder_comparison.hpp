// The pictures of two folders against each other, by name.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "pipeline/file_comparison.hpp"

namespace gpufilter {

struct FolderComparisonRequest {
  std::string a;
  std::string b;
  bool recursive = false;
  Tolerance tolerance;
  ReadLimits limits;
};

// What came of one name.
struct NameComparison {
  std::string name;  // relative to both folders
  bool in_a = false;
  bool in_b = false;
  std::optional<FileComparison> files;  // where both folders have it and both files can be read
  std::string failure;                  // why a file cannot be read: "PATH: REASON"
};

// Compares every picture that one of the two folders holds with the file of the same relative path
// in the other: "x.png" and "x.jpg" are two names. Which files count, links and hidden files are as
// scan_folder() has it; a folder that lies in the other is not entered from there.
//
// Calls `take` for each name in the order of their bytes, one at a time. Several pairs are compared
// at once, as many as threads are allowed, with two bands each in memory. Throws PictureError where
// a folder itself cannot be read, and what `take` throws.
void compare_folders(const FolderComparisonRequest& request,
                     const std::function<void(const NameComparison&)>& take);

}  // namespace gpufilter
