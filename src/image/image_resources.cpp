#include "image/image_resources.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

namespace gpufilter {
namespace {

constexpr std::string_view signature = "8BIM";
constexpr unsigned iptc_resource = 0x0404;
constexpr std::array<unsigned, 2> thumbnail_resources{0x0409, 0x040c};
constexpr std::uint8_t iim_marker = 0x1c;

struct Resource {
  unsigned number = 0;
  std::size_t size = 0;  // of the whole block; 0: it is damaged
};

constexpr std::size_t padded(std::size_t size) {
  return size + size % 2;
}

Resource resource_at(const Bytes& bytes, std::size_t at) {
  const std::size_t left = bytes.size() - at;
  constexpr std::size_t name_at = 6;
  if (left <= name_at ||
      !std::equal(signature.begin(), signature.end(), bytes.begin() + static_cast<long>(at))) {
    return {};
  }
  const std::size_t length_at = name_at + padded(std::size_t{1} + bytes[at + name_at]);
  if (left < length_at + 4) return {};
  const std::size_t length = number_of(std::span(bytes).subspan(at + length_at, 4));
  if (length > left - length_at - 4) return {};
  const auto number = static_cast<unsigned>(number_of(std::span(bytes).subspan(at + 4, 2)));
  // The last one may lack its padding.
  return {number, std::min(left, length_at + 4 + padded(length))};
}

}  // namespace

void remove_resource_thumbnails(Bytes& resources) {
  Bytes kept;
  std::size_t at = 0;
  while (at < resources.size()) {
    const Resource resource = resource_at(resources, at);
    const std::size_t size = resource.size == 0 ? resources.size() - at : resource.size;
    const bool is_thumbnail = std::find(thumbnail_resources.begin(), thumbnail_resources.end(),
                                        resource.number) != thumbnail_resources.end();
    if (!is_thumbnail) {
      const auto begin = resources.begin() + static_cast<std::ptrdiff_t>(at);
      kept.insert(kept.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    }
    at += size;
  }
  resources = std::move(kept);
}

Bytes resources_from_iptc(Bytes iptc) {
  if (iptc.empty() || iptc[0] != iim_marker) return iptc;
  Bytes resources(signature.begin(), signature.end());
  resources.reserve(iptc.size() + 16);
  put_number(resources, iptc_resource, 2);
  put_number(resources, 0, 2);  // no name
  put_number(resources, iptc.size(), 4);
  resources.insert(resources.end(), iptc.begin(), iptc.end());
  resources.resize(padded(resources.size()));
  return resources;
}

}  // namespace gpufilter
