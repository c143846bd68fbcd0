// The environment that an OpenCL implementation's behaviour may depend on, apart from its files.
#pragma once

#include <string>

namespace gpufilter {

// A text that differs if one of these does: the root directory; the kind of file system at
// /sys, /proc and /dev, and what drivers read there; the nodes of GPUs and whether this user may
// use them; the system, its boot and its name; user and groups; limits of the process and whether
// its system calls are filtered; the environment variables that drivers and the dynamic loader
// read; the loader's cache of libraries.
[[nodiscard]] std::string describe_surroundings();

// A text that differs if `path` is a different file or its contents have been written since.
[[nodiscard]] std::string file_identity(const std::string& path);

}  // namespace gpufilter
