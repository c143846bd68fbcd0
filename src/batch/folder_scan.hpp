// Which pictures a folder holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/codec.hpp"

namespace gpufilter {

// A file or folder, whatever it is called.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;  // device, inode
// Of what `path` leads to; nothing where it leads nowhere.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path);

struct FoundFile {
  std::string relative;  // to the folder that was scanned
  FileFormat format = FileFormat::png;
  std::uint64_t bytes = 0;
  FileIdentity identity;
  std::string problem;  // why it cannot be read; empty: it is a picture
};

struct FolderScan {
  std::string folder;
  bool recursive = false;
  // What names of files have to match one of, as fnmatch(3) has it; empty: any name will do.
  std::vector<std::string> patterns;
  // A folder not to be entered, where it is there: the one that the results go to.
  std::optional<std::string> left_out;
};

// The pictures, by content, and the files and folders that cannot be read, sorted by the bytes of
// their relative paths. Hidden files and folders, and whatever is no plain file, are passed over;
// only plain files are ever opened. Links are followed; a folder that is reached on several ways is
// scanned once, under its own name where that is one of them. Throws PictureError where `folder`
// itself cannot be read.
[[nodiscard]] std::vector<FoundFile> scan_folder(const FolderScan& scan);

}  // namespace gpufilter
