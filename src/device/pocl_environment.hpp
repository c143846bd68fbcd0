// PoCL, the OpenCL of CPUs, keeps compiled kernels in a folder of its own and fails in unkind ways
// when that folder is damaged (it aborts the process), full (it exits) or read-only (its device is
// not there). So it is given a fresh private folder in every process; what is worth keeping is kept
// by ProgramCache, which checks what it reads.
#pragma once

#include <filesystem>
#include <optional>

namespace gpufilter {

// Sets POCL_CACHE_DIR before OpenCL is first used, unless the user's own setting names a usable
// folder. The folder is removed when the process ends; one left by a killed process is removed by
// the next that comes by. Only the first call does anything.
void prepare_pocl_environment();

// Lets PoCL work on at most `threads` threads of its own, in place of one for each core. Only
// before OpenCL is first used; other platforms have no such setting.
void limit_pocl_threads(int threads);

// A new folder inside `base` (created if need be) that is writable, has room and lets code run from
// it; nothing where `base` offers none. Exposed for tests.
[[nodiscard]] std::optional<std::filesystem::path> make_scratch_folder(
    const std::filesystem::path& base);

}  // namespace gpufilter
