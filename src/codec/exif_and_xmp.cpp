#include "codec/exif_and_xmp.hpp"

#include <cstdint>
#include <span>

#include "base/byte_cursor.hpp"
#include "image/exif_parts.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t offset_size = 4;

}  // namespace

void note_all_but_exif_and_xmp(const Metadata& metadata, LeftOut& left_out) {
  note_density(metadata, left_out);
  Metadata foreign;
  foreign.image_resources = metadata.image_resources;
  foreign.text = metadata.text;
  note_content(foreign, left_out);
}

Bytes exif_from_box(const Bytes& box) {
  if (box.size() <= offset_size) return {};
  const std::uint64_t offset = number_of(std::span(box).first(offset_size));
  if (offset >= box.size() - offset_size) return {};
  Bytes exif(box.begin() + static_cast<std::ptrdiff_t>(offset_size + offset), box.end());
  remove_exif_prefix(exif);
  return exif;
}

Bytes exif_for_box(const Bytes& exif) {
  Bytes box(offset_size, 0);
  box.insert(box.end(), exif.begin(), exif.end());
  return box;
}

}  // namespace gpufilter
