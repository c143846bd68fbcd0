#include "image/exif_color_space.hpp"

#include "image/tiff.hpp"
#include "image/xmp.hpp"

namespace gpufilter {

void set_exif_color_space(Metadata& metadata, bool is_srgb) {
  constexpr std::uint16_t srgb = 1;
  constexpr std::uint16_t uncalibrated = 65535;
  constexpr std::uint32_t color_space_tag = 0xa001;
  const std::uint16_t value = is_srgb ? srgb : uncalibrated;
  set_xmp_number(metadata.xmp, "exif:ColorSpace", value);
  const Tiff tiff(metadata.exif);
  if (!tiff.is_valid()) return;
  const auto pointer = tiff.find(tiff.first_directory(), Tiff::exif_directory_tag);
  const auto directory = pointer ? tiff.value(*pointer) : std::nullopt;
  const auto entry = directory ? tiff.find(*directory, color_space_tag) : std::nullopt;
  if (entry && tiff.integer(*entry)) set_integer(metadata.exif, *entry, value);
}

}  // namespace gpufilter
