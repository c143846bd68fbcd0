#include "batch/file_limit.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <sys/resource.h>

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// A picture's input and its unfinished result; while the result gets its name, its lock and its
// folder.
constexpr rlim_t files_of_a_job = 4;
// For drivers, caches and the trace, which are opened during the run.
constexpr rlim_t reserve = 12;

rlim_t open_files() {
  constexpr rlim_t usual = 8;  // where there is no /proc
  std::error_code error;
  rlim_t count = 0;
  for (fs::directory_iterator entry("/proc/self/fd", error);
       !error && entry != fs::directory_iterator(); entry.increment(error))
    ++count;
  return std::max(count, usual);
}

}  // namespace

int jobs_within_file_limit(int jobs) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return jobs;
  const rlim_t taken = open_files() + reserve;
  const rlim_t room = limit.rlim_cur > taken ? (limit.rlim_cur - taken) / files_of_a_job : 0;
  return static_cast<int>(std::clamp<rlim_t>(room, 1, static_cast<rlim_t>(jobs)));
}

}  // namespace gpufilter
