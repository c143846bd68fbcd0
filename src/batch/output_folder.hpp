// Creates and syncs output folders.
#pragma once

#include <string>

namespace gpufilter {

// Creates the folder and those above it if they do not exist. Throws PictureError.
void create_folder(const std::string& path);

// Creates the folder of the file `path`.
void create_parent_folder(const std::string& path);

// Syncs a folder, so that the names of its files survive a power failure, if the file system
// supports that. Throws std::system_error.
void sync_folder(const std::string& path);

}  // namespace gpufilter
