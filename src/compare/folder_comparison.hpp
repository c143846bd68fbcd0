// Compares two picture files, and the pictures of two folders by name.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "codec/byte_source.hpp"
#include "codec/codec_table.hpp"
#include "compare/comparison.hpp"

namespace gpufilter {

struct FileComparisonRequest {
  std::string a;  // "-" is standard input
  std::string b;
  Tolerance tolerance;
  ReadLimits limits;
  // The file for the drawing of the differences; its extension is that of a lossless codec.
  std::optional<std::string> drawing;
  OpenSource open = open_source;
};

struct ComparedFile {
  std::string name;  // its name in messages
  const Codec* file_format = nullptr;
  ImageSize size;
  PixelFormat format;
};

struct FileComparison {
  ComparedFile a;
  ComparedFile b;
  // None if size, channels or depth differ: then nothing was compared or drawn.
  std::optional<Comparison> comparison;
};

// Metadata is ignored. Memory does not grow with the pictures' height. Throws PictureError if a
// file cannot be read to its end, or the drawing cannot be written.
[[nodiscard]] FileComparison compare_files(const FileComparisonRequest& request);

struct FolderComparisonRequest {
  std::string a;
  std::string b;
  bool recursive = false;
  Tolerance tolerance;
  ReadLimits limits;
};

// The comparison of one name.
struct NameComparison {
  std::string name;  // relative to both folders
  bool in_a = false;
  bool in_b = false;
  std::optional<FileComparison> files;  // if both folders have it and both files can be read
  std::string failure;                  // why a file cannot be read: "PATH: REASON"
};

// Sees more of a comparison; either may be empty.
struct ComparisonWatch {
  // How many names there are, before the first is compared.
  std::function<void(std::size_t names)> begin = {};
  // Each name, by its place from 0 on, once it is compared; several at the same time.
  std::function<void(std::size_t place, const NameComparison& name)> look = {};
};

// Compares every picture that either folder holds with the file of the same relative path in the
// other: "x.png" and "x.jpg" are two names. scan_folder() has the rules for files, links and hidden
// names. If one folder lies in the other, the scan of the outer one does not enter it.
//
// Calls `take` for each name in the order of their bytes, one at a time. As many pairs are compared
// at the same time as threads are allowed, with two bands each in memory. Throws PictureError if a
// folder itself cannot be read, and whatever `take` throws.
void compare_folders(const FolderComparisonRequest& request,
                     const std::function<void(const NameComparison&)>& take,
                     const ComparisonWatch& watch = {});

}  // namespace gpufilter
