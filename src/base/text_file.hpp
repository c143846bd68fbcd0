// Reads text files.
#pragma once

#include <string>

namespace gpufilter {

// The bytes of a file or pipe, without a byte order mark before them. Throws std::system_error.
[[nodiscard]] std::string read_text_file(const std::string& path);

// Removes the mark that some editors put before UTF-8 (U+FEFF).
void remove_byte_order_mark(std::string& text);

}  // namespace gpufilter
