#include "codec/left_out.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/format.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t icc_header_size = 128;
constexpr std::size_t color_space_at = 16;
constexpr std::size_t color_space_size = 4;

// As the profile's header names it: "CMYK", "RGB", "GRAY", "Lab". Empty if it has no header.
std::string color_space_of(const Bytes& profile) {
  if (profile.size() < icc_header_size) return "";
  const auto begin = profile.begin() + color_space_at;
  std::string name(begin, begin + color_space_size);
  while (!name.empty() && name.back() == ' ')
    name.pop_back();
  const bool is_word =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
  return is_word ? name : "";
}

}  // namespace

void LeftOut::add(std::string name) {
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
    names_.push_back(std::move(name));
  }
}

const IccProfile* profile_for(const PixelFormat& format, const Metadata& metadata,
                              LeftOut& left_out) {
  if (!metadata.icc_profile) return nullptr;
  const std::string space = color_space_of(metadata.icc_profile->data);
  const bool is_grey = format.color_channels() == 1;
  if (space == (is_grey ? "GRAY" : "RGB")) return &*metadata.icc_profile;
  if (space.empty()) {
    left_out.add("the ICC profile (it is damaged)");
  } else {
    left_out.add(formatted("the {} ICC profile (the result is {})",
                           space == "GRAY" ? "grey" : space, is_grey ? "grey" : "RGB"));
  }
  return nullptr;
}

}  // namespace gpufilter
