// The bytes of text files.
#pragma once

#include <string>

namespace gpufilter {

// Removes the mark that some editors put before UTF-8 (U+FEFF).
void remove_byte_order_mark(std::string& text);

}  // namespace gpufilter
