// PoCL, OpenCL for CPUs, keeps compiled kernels in its own folder. If that folder is damaged, PoCL
// aborts the process; if it is full, PoCL exits; if it is read-only, PoCL has no device. So each
// process gets a new folder; ProgramCache keeps the compiled programs and checks what it reads.
#pragma once

#include <filesystem>
#include <optional>

namespace gpufilter {

// PoCL's name for its platform.
inline constexpr const char* pocl_platform = "Portable Computing Language";

// Before OpenCL is first used: limits PoCL's threads if not all of them can be started, and sets
// POCL_CACHE_DIR unless the user's own setting names a usable folder. The folder is removed when
// the process ends; a folder left by a killed process is removed by the next process. Kernels are
// compiled for work-groups of every size at once, unless the user has set
// POCL_WORK_GROUP_SPECIALIZATION. Only the first call does anything, and only if
// may_change_environment().
void prepare_pocl_environment();

// Limits PoCL to `threads` threads of its own, instead of one for each core. Only before OpenCL is
// first used; other platforms have no such setting.
void limit_pocl_threads(int threads);

// A new folder inside `base` (created if necessary) that is writable, has free space and allows
// running code; nothing if `base` allows none. Exposed for tests.
[[nodiscard]] std::optional<std::filesystem::path> make_scratch_folder(
    const std::filesystem::path& base);

}  // namespace gpufilter
