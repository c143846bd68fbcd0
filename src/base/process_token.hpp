// A name for this process that is unique on all machines.
#pragma once

#include <string>

namespace gpufilter {

inline constexpr std::size_t process_token_digits = 16;

// Random hexadecimal digits, constant during the life of the process. Process ids are not unique on
// a file system that several machines share.
[[nodiscard]] const std::string& process_token();

}  // namespace gpufilter
