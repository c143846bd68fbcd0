// The process's limit on open files.
#pragma once

namespace gpufilter {

// How many of `jobs` pictures may be in progress at the same time so that all files that they need
// can be open; at least 1.
[[nodiscard]] int jobs_within_file_limit(int jobs);

}  // namespace gpufilter
