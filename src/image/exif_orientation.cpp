#include "image/exif_orientation.hpp"

#include <cstddef>

#include "image/tiff.hpp"

namespace gpufilter {
namespace {

constexpr std::uint32_t orientation_tag = 0x0112;

}  // namespace

int exif_orientation(const Bytes& exif) {
  const Tiff tiff(exif);
  if (!tiff.is_valid()) return 1;
  const std::size_t directory = tiff.first_directory();
  for (std::size_t i = 0; i < tiff.entry_count(directory); ++i) {
    const auto entry = tiff.entry(directory, i);
    if (!entry) return 1;
    if (entry->tag != orientation_tag) continue;
    if (entry->type != Tiff::type_short || entry->count != 1) return 1;
    const auto value = tiff.value(*entry).value_or(1);
    return 1 <= value && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
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
