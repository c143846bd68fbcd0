// Pieces of text in files and messages.
#pragma once

#include <string>
#include <string_view>

#include "base/format.hpp"

namespace gpufilter {

// Files may begin with it.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// A piece of a file or an option for a message, shortened and on one line.
inline std::string shown(std::string_view piece, std::size_t longest = 120) {
  std::string text;
  for (const char c : piece.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : formatted("\\x{:02x}", byte);
  }
  return piece.size() > longest ? text + "..." : text;
}

}  // namespace gpufilter
