// Which pictures a folder holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/codec_table.hpp"

namespace gpufilter {

// A file or folder, whatever it is called.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;  // device, inode
// Of what `path` leads to; nothing where it leads nowhere.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path);

struct FoundFile {
  std::string relative;  // to the folder that was scanned
  const Codec* format = nullptr;
  std::uint64_t bytes = 0;
  FileIdentity identity;
  std::string problem;  // why it cannot be read; empty: it is a picture
};

struct FolderScan {
  std::string folder;
  bool recursive = false;
  // Names of files have to match one of these, as fnmatch(3) does it; empty: any name.
  std::vector<std::string> patterns;
  // A folder that is not entered: the one that the results go to.
  std::optional<std::string> left_out;
};

// The pictures, by content, and the files and folders that cannot be read, sorted by the bytes of
// their relative paths. Hidden files and folders, and whatever is not a plain file, are skipped;
// only plain files are ever opened. Links are followed; a folder that several paths lead to is
// scanned once, under its own name where that is one of them. Throws PictureError where `folder`
// itself cannot be read.
[[nodiscard]] std::vector<FoundFile> scan_folder(const FolderScan& scan);

}  // namespace gpufilter
