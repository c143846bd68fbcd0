#include "batch/job_limits.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <sys/resource.h>

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/thread_limit.hpp"
#include "base/thread_room.hpp"
#include "base/words.hpp"

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

JobLimits job_limits(const BatchOptions& options, std::size_t pictures) {
  const int wanted_jobs = static_cast<int>(
      std::clamp<std::size_t>(pictures, 1, static_cast<std::size_t>(options.jobs)));
  const int with_files = jobs_within_file_limit(wanted_jobs);
  if (with_files < wanted_jobs) {
    log::info(
        formatted("pictures in progress: {} instead of {}, because of the limit of open "
                  "files (ulimit -n)",
                  with_files, wanted_jobs));
  }
  const auto jobs = static_cast<std::size_t>(with_files);
  const std::size_t wanted = options.threads > 0 ? static_cast<std::size_t>(options.threads)
                                                 : jobs - 1 + allowed_threads();
  JobLimits limits;
  limits.threads = std::max<std::size_t>(startable_threads(wanted), 1);
  limits.jobs = std::min(jobs, limits.threads);
  limits.is_below_usual = options.threads > 0 || limits.threads < wanted;
  if (limits.jobs < jobs) {
    log::warn(formatted("{} at a time instead of {}: a limit of processes or memory allows no more",
                        counted(limits.jobs, "picture"), jobs));
  }
  return limits;
}

}  // namespace gpufilter
