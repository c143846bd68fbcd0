#include "codec/file_head.hpp"

#include <algorithm>
#include <cctype>

namespace gpufilter {

std::string ending_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  std::string ending = dot == std::string::npos ? "" : name.substr(dot);
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

bool begins_with(std::span<const std::uint8_t> head, std::string_view signature) {
  return head.size() >= signature.size() &&
         std::equal(signature.begin(), signature.end(), head.begin(),
                    [](char expected, std::uint8_t byte) {
                      return expected == '?' || static_cast<std::uint8_t>(expected) == byte;
                    });
}

}  // namespace gpufilter
