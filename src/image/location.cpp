#include "image/location.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>

#include "image/exif.hpp"

namespace gpufilter {
namespace {

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

}  // namespace

void remove_location(Metadata& metadata) {
  remove_exif_location(metadata.exif);
  remove_from_xmp(metadata.xmp);
  std::erase_if(metadata.text, [](const TextEntry& entry) {
    return find_location(entry.keyword, 0) < entry.keyword.size();
  });
}

}  // namespace gpufilter
