// Files that stages read whole.
#pragma once

#include <cstdint>
#include <string>

namespace gpufilter {

// Far more than the numbers of any reasonable network, or a profile.
inline constexpr std::uint64_t stage_file_limit = std::uint64_t{64} << 20U;

// The bytes of a file or pipe. Throws UsageError "PATH: reason", also if there are more than
// `limit`.
[[nodiscard]] std::string read_stage_bytes(const std::string& path,
                                           std::uint64_t limit = stage_file_limit);

}  // namespace gpufilter
