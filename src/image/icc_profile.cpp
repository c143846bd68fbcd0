#include "image/icc_profile.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace gpufilter {
namespace {

constexpr std::size_t icc_header_size = 128;
constexpr std::size_t icc_version_at = 8;
constexpr std::size_t icc_space_at = 16;
constexpr std::size_t icc_space_size = 4;

}  // namespace

std::string icc_color_space(const Bytes& profile) {
  if (profile.size() < icc_header_size) return "";
  const auto begin = profile.begin() + icc_space_at;
  std::string name(begin, begin + icc_space_size);
  while (!name.empty() && name.back() == ' ')
    name.pop_back();
  const bool is_word =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
  return is_word ? name : "";
}

int icc_major_version(const Bytes& profile) {
  return profile.size() < icc_header_size ? 0 : profile[icc_version_at];
}

}  // namespace gpufilter
