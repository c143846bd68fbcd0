#include "image/exif_orientation.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "image/tiff.hpp"

namespace gpufilter {
namespace {

constexpr std::uint32_t orientation_tag = 0x0112;

// The entry in the first directory, if it holds an orientation.
std::optional<TiffEntry> orientation_entry(const Tiff& tiff) {
  if (!tiff.is_valid()) return std::nullopt;
  const std::size_t directory = tiff.first_directory();
  for (std::size_t i = 0; i < tiff.entry_count(directory); ++i) {
    const auto entry = tiff.entry(directory, i);
    if (!entry) return std::nullopt;
    if (entry->tag != orientation_tag) continue;
    const bool is_number = entry->type == Tiff::type_short && entry->count == 1;
    const auto value = is_number ? tiff.value(*entry) : std::nullopt;
    return value && 1 <= *value && *value <= 8 ? entry : std::nullopt;
  }
  return std::nullopt;
}

// XMP writes it as an attribute, tiff:Orientation="6", or as an element,
// <tiff:Orientation>6</tiff:Orientation>.
void reset_in_xmp(Bytes& xmp) {
  constexpr std::string_view name = "tiff:Orientation";
  for (auto at = xmp.begin();;) {
    at = std::search(at, xmp.end(), name.begin(), name.end());
    if (at == xmp.end()) return;
    at += name.size();
    const auto value =
        std::find_if(at, xmp.end(), [](std::uint8_t c) { return c >= '0' && c <= '9'; });
    constexpr std::string_view between = "=\"'> \t\r\n";
    const bool follows = std::all_of(at, value, [&](std::uint8_t c) {
      return between.find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (follows && value != at && value != xmp.end()) *value = '1';
  }
}

}  // namespace

int exif_orientation(const Bytes& exif) {
  const Tiff tiff(exif);
  const auto entry = orientation_entry(tiff);
  return entry ? static_cast<int>(tiff.value(*entry).value_or(1)) : 1;
}

void reset_orientation(Metadata& metadata) {
  reset_in_xmp(metadata.xmp);
  const Tiff tiff(metadata.exif);
  const auto entry = orientation_entry(tiff);
  if (!entry) return;
  metadata.exif[entry->value.begin] = tiff.is_little_endian() ? 1 : 0;
  metadata.exif[entry->value.begin + 1] = tiff.is_little_endian() ? 0 : 1;
}

Bytes exif_with_orientation_alone(const Bytes& exif) {
  const int orientation = exif_orientation(exif);
  if (orientation == 1) return {};
  // Header, number of entries, the entry (tag, type, count, value), no next directory.
  return {'M',  'M',  0, 42, 0, 0, 0, 8, 0, 1,
          0x01, 0x12, 0, 3,  0, 0, 0, 1, 0, static_cast<std::uint8_t>(orientation),
          0,    0,    0, 0,  0, 0};
}

}  // namespace gpufilter
