// PoCL, the OpenCL of CPUs, keeps compiled kernels in a folder of its own. Where that folder is
// damaged, PoCL aborts the process; where it is full, PoCL exits; where it is read-only, PoCL has
// no device. So each process gets a fresh folder; ProgramCache keeps what is worth keeping, and
// checks what it reads.
#pragma once

#include <filesystem>
#include <optional>

namespace gpufilter {

// As PoCL names its platform.
inline constexpr const char* pocl_platform = "Portable Computing Language";

// Sets POCL_CACHE_DIR before OpenCL is first used, unless the user's own setting names a usable
// folder. The folder is removed when the process ends; one that a killed process left is removed by
// the next process. Only the first call does anything.
void prepare_pocl_environment();

// Lets PoCL work on at most `threads` threads of its own, in place of one for each core. Only
// before OpenCL is first used; other platforms have no such setting.
void limit_pocl_threads(int threads);

// A new folder inside `base` (created if need be) that is writable, has room and lets code run from
// it; nothing where `base` offers none. Exposed for tests.
[[nodiscard]] std::optional<std::filesystem::path> make_scratch_folder(
    const std::filesystem::path& base);

}  // namespace gpufilter
