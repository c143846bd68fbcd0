#include "base/machine_memory.hpp"

#include <algorithm>
#include <fstream>

#include <unistd.h>

namespace gpufilter {

std::uint64_t machine_memory() {
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L));
  std::uint64_t bytes = pages * static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L));
  // The limits of control groups, versions 2 and 1. "max" is not a number, so it is skipped.
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::uint64_t limit = 0;
    if (std::ifstream(path) >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

}  // namespace gpufilter
