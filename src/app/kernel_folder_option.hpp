// --kernels FOLDER: kernels of one's own in place of the built-in ones.
#pragma once

#include <string>
#include <vector>

#include "app/arguments.hpp"

namespace gpufilter {

struct KernelFolderFiles {
  std::string folder;              // empty: only built-in kernels
  std::vector<std::string> files;  // that replace built-in ones, sorted
  std::string why;                 // what its why.txt says, in one line; empty if it has none
};

void add_kernel_folder(Arguments& app, std::string& folder);

// From now on, the kernel files in `folder` replace the built-in ones of the same names; nothing
// changes if it is empty. Call it before other threads start. Throws UsageError if it is not a
// folder, or one without a kernel file, or with one that replaces none.
[[nodiscard]] KernelFolderFiles use_kernel_folder(const std::string& folder);

}  // namespace gpufilter
