#include "image/exif_size.hpp"

#include <cstdint>

#include "image/tiff.hpp"
#include "image/xmp.hpp"

namespace gpufilter {
namespace {

// Of one side, in the first directory and in EXIF's own.
struct Tags {
  std::uint32_t picture;
  std::uint32_t exif;
};
constexpr Tags width_tags{0x0100, 0xa002};
constexpr Tags height_tags{0x0101, 0xa003};

void set_entry(Bytes& exif, std::size_t directory, std::uint32_t tag, int value) {
  const Tiff tiff(exif);
  const auto entry = tiff.find(directory, tag);
  if (entry && tiff.integer(*entry)) set_integer(exif, *entry, static_cast<std::uint32_t>(value));
}

void set_side(Bytes& exif, const Tags& tags, int value) {
  const Tiff tiff(exif);
  if (!tiff.is_valid()) return;
  const std::size_t first = tiff.first_directory();
  set_entry(exif, first, tags.picture, value);
  const auto pointer = tiff.find(first, Tiff::exif_directory_tag);
  if (const auto directory = pointer ? tiff.value(*pointer) : std::nullopt)
    set_entry(exif, *directory, tags.exif, value);
}

}  // namespace

void set_exif_size(Metadata& metadata, const ImageSize& size) {
  set_side(metadata.exif, width_tags, size.width);
  set_side(metadata.exif, height_tags, size.height);
  for (const char* property : {"tiff:ImageWidth", "exif:PixelXDimension"})
    set_xmp_number(metadata.xmp, property, size.width);
  for (const char* property : {"tiff:ImageLength", "exif:PixelYDimension"})
    set_xmp_number(metadata.xmp, property, size.height);
}

}  // namespace gpufilter
