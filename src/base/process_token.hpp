// A name for this process that no other has, on whatever machine.
#pragma once

#include <string>

namespace gpufilter {

inline constexpr std::size_t process_token_digits = 16;

// Random hexadecimal digits, the same as long as the process lives. Process ids are not enough on a
// file system that several machines share.
[[nodiscard]] const std::string& process_token();

}  // namespace gpufilter
