#include "image/exif_orientation.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "image/tiff.hpp"
#include "image/xmp.hpp"

namespace gpufilter {
namespace {

constexpr std::uint32_t orientation_tag = 0x0112;

// The entry in the first directory, if it holds an orientation.
std::optional<TiffEntry> orientation_entry(const Tiff& tiff) {
  if (!tiff.is_valid()) return std::nullopt;
  const auto entry = tiff.find(tiff.first_directory(), orientation_tag);
  const auto value = entry ? tiff.integer(*entry) : std::nullopt;
  return value && 1 <= *value && *value <= 8 ? entry : std::nullopt;
}

// EXIF that holds an orientation alone: header, number of entries, the entry (tag, type, count,
// value), no next directory.
Bytes exif_of(int orientation) {
  return {'M',  'M',  0, 42, 0, 0, 0, 8, 0, 1,
          0x01, 0x12, 0, 3,  0, 0, 0, 1, 0, static_cast<std::uint8_t>(orientation),
          0,    0,    0, 0,  0, 0};
}

// A copy of the first directory with the orientation is added at the end, so that all offsets stay
// right. EXIF that is damaged, or has a directory of other orientations, is replaced.
Bytes with_orientation_added(const Bytes& exif, int orientation) {
  const Tiff tiff(exif);
  const std::size_t directory = tiff.first_directory();
  const std::size_t end = tiff.link_of(directory);
  if (!tiff.is_valid() || directory == 0 || !tiff.number(end, 4) ||
      exif.size() > std::size_t{1} << 30U) {
    return exif_of(orientation);
  }
  Bytes result = exif;
  const auto append = [&](std::size_t value, std::size_t size) {
    put_number(result, value, size, tiff.order());
  };
  const auto copy = [&](std::size_t from, std::size_t to) {
    result.insert(result.end(), exif.begin() + static_cast<std::ptrdiff_t>(from),
                  exif.begin() + static_cast<std::ptrdiff_t>(to));
  };
  if (result.size() % 2 != 0) result.push_back(0);
  const std::size_t at = result.size();
  std::size_t place = directory + 2;  // entries are in the order of their tags
  while (place < end && *tiff.number(place, 2) < orientation_tag)
    place += Tiff::entry_bytes;
  const bool replaces = place < end && *tiff.number(place, 2) == orientation_tag;
  append(tiff.entry_count(directory) + (replaces ? 0 : 1), 2);
  copy(directory + 2, place);
  append(orientation_tag, 2);
  append(Tiff::type_short, 2);
  append(1, 4);
  append(static_cast<std::size_t>(orientation), 2);
  append(0, 2);
  copy(place + (replaces ? Tiff::entry_bytes : 0), end + 4);
  store_number(at, std::span(result).subspan(4, 4), tiff.order());
  return result;
}

std::optional<int> orientation_in_exif(const Bytes& exif) {
  const Tiff tiff(exif);
  const auto entry = orientation_entry(tiff);
  return entry ? tiff.integer(*entry) : std::nullopt;
}

constexpr std::string_view xmp_property = "tiff:Orientation";

}  // namespace

int exif_orientation(const Bytes& exif) {
  return orientation_in_exif(exif).value_or(1);
}

std::optional<int> stored_orientation(const Metadata& metadata) {
  if (const auto orientation = orientation_in_exif(metadata.exif)) return orientation;
  const auto orientation = xmp_number(metadata.xmp, xmp_property);
  return orientation && 1 <= *orientation && *orientation <= 8 ? orientation : std::nullopt;
}

void set_orientation(Metadata& metadata, int orientation) {
  set_xmp_number(metadata.xmp, xmp_property, orientation);
  const Tiff tiff(metadata.exif);
  if (const auto entry = orientation_entry(tiff)) {
    set_integer(metadata.exif, *entry, static_cast<std::uint32_t>(orientation));
  } else if (orientation != 1) {
    metadata.exif = with_orientation_added(metadata.exif, orientation);
  }
}

Bytes exif_with_orientation_alone(const Bytes& exif) {
  const int orientation = exif_orientation(exif);
  return orientation == 1 ? Bytes() : exif_of(orientation);
}

}  // namespace gpufilter
