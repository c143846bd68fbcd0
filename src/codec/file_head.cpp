#include "codec/file_head.hpp"

#include <algorithm>
#include <cctype>

namespace gpufilter {

std::string extension_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  std::string extension = dot == std::string::npos ? "" : name.substr(dot);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

bool begins_with(std::span<const std::uint8_t> head, std::string_view signature) {
  return head.size() >= signature.size() &&
         std::equal(signature.begin(), signature.end(), head.begin(),
                    [](char expected, std::uint8_t byte) {
                      return expected == '?' || static_cast<std::uint8_t>(expected) == byte;
                    });
}

}  // namespace gpufilter
