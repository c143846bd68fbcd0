// Files that stages read whole.
#pragma once

#include <cstddef>
#include <string>

namespace gpufilter {

// Far more than the numbers of any reasonable network, or a profile.
inline constexpr std::size_t stage_file_limit = std::size_t{64} << 20U;

// The bytes of a file. Throws UsageError "PATH: reason", also if there are more than
// stage_file_limit.
[[nodiscard]] std::string read_stage_bytes(const std::string& path);

}  // namespace gpufilter
