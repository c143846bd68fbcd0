// Files that stages read whole.
#pragma once

#include <cstddef>
#include <string>

namespace gpufilter {

// Far more than the numbers of any reasonable network.
inline constexpr std::size_t network_file_limit = std::size_t{64} << 20U;

// The bytes of a file. Throws UsageError "PATH: reason", also if there are more than
// network_file_limit.
[[nodiscard]] std::string read_network_bytes(const std::string& path);

}  // namespace gpufilter
