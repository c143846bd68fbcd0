#include "image/metadata.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <span>
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

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Where ":GPS" stands at `from` or behind it.
std::size_t find_location(std::string_view text, std::size_t from) {
  constexpr std::string_view wanted = ":gps";
  const auto found = std::search(
      text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), wanted.begin(), wanted.end(),
      [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
  return static_cast<std::size_t>(found - text.begin());
}

struct Range {
  std::size_t begin;
  std::size_t end;
};

// <exif:GPSLatitude>...</exif:GPSLatitude> or <exif:GPSLatitude/>, whose name is at `name`.
std::optional<Range> element_at(std::string_view text, const Range& name) {
  const std::size_t tag = text.find('>', name.end);
  if (tag == std::string_view::npos) return std::nullopt;
  if (text[tag - 1] == '/') return Range{name.begin - 1, tag + 1};
  const std::string closing =
      "</" + std::string(text.substr(name.begin, name.end - name.begin)) + ">";
  const std::size_t end = text.find(closing, tag);
  if (end == std::string_view::npos) return std::nullopt;
  return Range{name.begin - 1, end + closing.size()};
}

// exif:GPSLatitude="...", with the space before it.
std::optional<Range> attribute_at(std::string_view text, const Range& name) {
  std::size_t at = name.end;
  while (at < text.size() && (is_space(text[at]) || text[at] == '='))
    ++at;
  if (at == text.size() || (text[at] != '"' && text[at] != '\'')) return std::nullopt;
  const std::size_t end = text.find(text[at], at + 1);
  if (end == std::string_view::npos) return std::nullopt;
  return Range{name.begin - 1, end + 1};
}

void remove_from_xmp(Bytes& xmp) {
  std::string text(xmp.begin(), xmp.end());
  std::size_t at = 0;
  while ((at = find_location(text, at)) < text.size()) {
    Range name{at, at + 1};
    while (name.begin > 0 && is_name(text[name.begin - 1]))
      --name.begin;
    while (name.end < text.size() && is_name(text[name.end]))
      ++name.end;
    at = name.end;
    if (name.begin == 0) continue;
    const char before = text[name.begin - 1];
    const auto range = before == '<'      ? element_at(text, name)
                       : is_space(before) ? attribute_at(text, name)
                                          : std::nullopt;
    if (!range) continue;
    text.erase(range->begin, range->end - range->begin);
    at = range->begin;
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
  // The last one may lack its padding.
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

}  // namespace gpufilter
