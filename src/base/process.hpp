// This process: its unique name, and the program that it belongs to.
#pragma once

#include <map>
#include <string>

namespace gpufilter {

inline constexpr std::size_t process_token_digits = 16;

// Random hexadecimal digits, constant for the life of the process. Process ids are not unique on a
// file system that several machines share.
[[nodiscard]] const std::string& process_token();

// From now on this process belongs to a program that uses the library; see below.
void become_guest();

// The environment variables: name to value.
[[nodiscard]] std::map<std::string, std::string> environment();

// Whether environment variables may be changed: always in our own program; as a guest, only while
// no other thread may be reading them.
[[nodiscard]] bool may_change_environment();

}  // namespace gpufilter
