// Folders for results.
#pragma once

#include <string>

namespace gpufilter {

// Creates the folder and those above it, where they do not exist. Throws PictureError.
void create_folder(const std::string& path);

// The same for the folder that the file `path` belongs in.
void create_parent_folder(const std::string& path);

// Sees to it that the names of the files in a folder survive a power cut, where the file system can
// do that. Throws std::system_error.
void sync_folder(const std::string& path);

}  // namespace gpufilter
