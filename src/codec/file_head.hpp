// What the name and the first bytes of a file say about its format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpufilter {

// The extension of the file's name, with the dot and in lower case; empty if it has none.
[[nodiscard]] std::string extension_of(const std::string& path);

// Whether `head` begins with `signature`, in which '?' is any byte.
[[nodiscard]] bool begins_with(std::span<const std::uint8_t> head, std::string_view signature);

}  // namespace gpufilter
