#include "image/metadata.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "image/exif.hpp"

namespace gpufilter {
namespace {

void clear_colors(Metadata& metadata) {
  metadata.icc_profile.reset();
  metadata.gamma.reset();
  metadata.chromaticity.reset();
  metadata.srgb_intent.reset();
  metadata.coding_points.reset();
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// The position of ":GPS" at or after `from`.
std::size_t find_location(std::string_view text, std::size_t from) {
  constexpr std::string_view wanted = ":gps";
  const auto found = std::search(
      text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), wanted.begin(), wanted.end(),
      [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
  return static_cast<std::size_t>(found - text.begin());
}

constexpr std::string_view white_space = " \t\r\n";

// The end of the tag that begins at `at`, behind its '>'. A '>' in quotes does not end it.
std::size_t end_of_tag(const std::string& xmp, std::size_t at) {
  char quote = 0;
  for (; at < xmp.size(); ++at) {
    const char c = xmp[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return at + 1;
    }
  }
  return std::string::npos;
}

// The end of the element whose tag begins at `at`, with what it contains.
std::size_t end_of_element(const std::string& xmp, std::size_t at) {
  const std::size_t opened = end_of_tag(xmp, at);
  if (opened == std::string::npos || xmp[opened - 2] == '/') return opened;
  const std::size_t name_end = xmp.find_first_of(" \t\r\n/>", at + 1);
  const std::size_t closing = xmp.find("</" + xmp.substr(at + 1, name_end - at - 1), opened);
  return closing == std::string::npos ? closing : end_of_tag(xmp, closing);
}

// The end of the attribute whose name begins at `at`: behind the quote that ends its value.
std::size_t end_of_attribute(const std::string& xmp, std::size_t at) {
  const std::size_t sign = xmp.find_first_of("=<>", at);
  if (sign == std::string::npos || xmp[sign] != '=') return std::string::npos;
  const std::size_t quote = xmp.find_first_not_of(white_space, sign + 1);
  if (quote == std::string::npos || (xmp[quote] != '"' && xmp[quote] != '\''))
    return std::string::npos;
  const std::size_t last = xmp.find(xmp[quote], quote + 1);
  return last == std::string::npos ? last : last + 1;
}

// The end of the element or attribute whose name begins at `at`, behind the first character.
std::size_t end_of_property(const std::string& xmp, std::size_t at) {
  if (xmp[at - 1] == '<') return end_of_element(xmp, at - 1);
  const bool is_attribute = white_space.find(xmp[at - 1]) != std::string_view::npos;
  return is_attribute ? end_of_attribute(xmp, at) : std::string::npos;
}

// Removes the elements and attributes whose names begin like this. Returns whether there were some.
bool remove_properties(std::string& xmp, std::string_view name) {
  bool found = false;
  for (auto at = xmp.find(name, 1); at != std::string::npos; at = xmp.find(name, at)) {
    const std::size_t end = end_of_property(xmp, at);
    if (end == std::string::npos) {
      ++at;
      continue;
    }
    const std::size_t begin =
        xmp[at - 1] == '<' ? at - 1 : xmp.find_last_not_of(white_space, at - 1) + 1;
    xmp.erase(begin, end - begin);
    at = std::max<std::size_t>(begin, 1);
    found = true;
  }
  return found;
}

// The digits of the first number that `property` has from `at` on; empty at the end of the text.
std::string_view find_number(std::string_view text, std::string_view property, std::size_t at) {
  constexpr std::string_view digits = "0123456789";
  constexpr std::string_view between = "=\"'> \t\r\n";
  while ((at = text.find(property, at)) != std::string_view::npos) {
    at += property.size();
    const auto begin = std::min(text.find_first_not_of(between, at), text.size());
    const auto end = std::min(text.find_first_not_of(digits, begin), text.size());
    if (begin > at && end > begin) return text.substr(begin, end - begin);
  }
  return text.substr(text.size());
}

// Properties such as exif:GPSLatitude, attributes with the space before them.
void remove_from_xmp(Bytes& xmp) {
  std::string text(as_text(xmp));
  std::size_t at = 0;
  while ((at = find_location(text, at)) < text.size()) {
    std::size_t begin = at++;
    while (begin > 0 && is_name(text[begin - 1]))
      --begin;
    const std::size_t end = begin == 0 ? std::string::npos : end_of_property(text, begin);
    if (end == std::string::npos) continue;
    text.erase(begin - 1, end - begin + 1);
    at = begin - 1;
  }
  xmp.assign(text.begin(), text.end());
}

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
  // The last block may lack its padding.
  return {number, std::min(left, length_at + 4 + padded(length))};
}

}  // namespace

Metadata kept_part(const Metadata& metadata, const MetadataKinds& kinds) {
  Metadata result = metadata;
  const auto orientation = stored_orientation(metadata);
  if (!kinds.has(MetadataKind::exif)) result.exif.clear();
  if (!kinds.has(MetadataKind::xmp)) result.xmp.clear();
  if (orientation && stored_orientation(result) != orientation)
    set_orientation(result, *orientation);
  if (!kinds.has(MetadataKind::location)) remove_location(result);
  if (!kinds.has(MetadataKind::iptc)) result.image_resources.clear();
  if (!kinds.has(MetadataKind::text)) result.text.clear();
  if (!kinds.has(MetadataKind::density)) result.density.reset();
  if (!kinds.has(MetadataKind::icc)) clear_colors(result);
  return result;
}

void set_profile(Metadata& metadata, const IccProfile& profile) {
  clear_colors(metadata);
  metadata.icc_profile = profile;
  set_exif_color_space(metadata, profile.name.starts_with("sRGB"));
}

void add_late_metadata(Metadata& metadata, Metadata late) {
  const auto add = [](Bytes& to, Bytes& from) {
    if (to.empty()) to = std::move(from);
  };
  add(metadata.exif, late.exif);
  add(metadata.image_resources, late.image_resources);
  add(metadata.xmp, late.xmp);
  metadata.text.insert(metadata.text.end(), std::make_move_iterator(late.text.begin()),
                       std::make_move_iterator(late.text.end()));
}

void remove_location(Metadata& metadata) {
  remove_exif_location(metadata.exif);
  remove_from_xmp(metadata.xmp);
  std::erase_if(metadata.text, [](const TextEntry& entry) {
    return find_location(entry.keyword, 0) < entry.keyword.size();
  });
}

void remove_resource_thumbnails(Bytes& resources) {
  Bytes kept;
  std::size_t at = 0;
  while (at < resources.size()) {
    const Resource resource = resource_at(resources, at);
    const std::size_t size = resource.size == 0 ? resources.size() - at : resource.size;
    const bool is_thumbnail =
        std::ranges::find(thumbnail_resources, resource.number) != thumbnail_resources.end();
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

XmpParts remove_announced_parts(Bytes& xmp) {
  constexpr std::array<std::string_view, 5> names{"GCamera:MotionPhoto", "Camera:MotionPhoto",
                                                  "GCamera:MicroVideo", "GContainer:Directory",
                                                  "Container:Directory"};
  std::string text(xmp.begin(), xmp.end());
  XmpParts parts;
  parts.depth_map = text.find("Semantic=\"Depth") != std::string::npos ||
                    text.find("Semantic>Depth") != std::string::npos;
  parts.gain_map = remove_properties(text, "hdrgm:");
  for (const std::string_view name : names)
    static_cast<void>(remove_properties(text, name));
  if (text.size() < xmp.size()) xmp.assign(text.begin(), text.end());
  return parts;
}

std::optional<int> xmp_number(const Bytes& xmp, std::string_view property) {
  const std::string_view digits = find_number(as_text(xmp), property, 0);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

void set_xmp_number(Bytes& xmp, std::string_view property, int number) {
  const std::string value = std::to_string(number);
  for (std::size_t at = 0;;) {
    const std::string_view digits = find_number(as_text(xmp), property, at);
    if (digits.empty()) return;
    const auto begin = digits.data() - as_text(xmp).data();
    const auto end = begin + static_cast<std::ptrdiff_t>(digits.size());
    at = static_cast<std::size_t>(begin) + value.size();
    xmp.erase(xmp.begin() + begin, xmp.begin() + end);
    xmp.insert(xmp.begin() + begin, value.begin(), value.end());
  }
}

}  // namespace gpufilter
