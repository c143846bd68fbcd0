#include "image/metadata.hpp"

#include <iterator>
#include <utility>

#include "image/exif.hpp"
#include "image/exif_orientation.hpp"
#include "image/location.hpp"

namespace gpufilter {

namespace {

void clear_colors(Metadata& metadata) {
  metadata.icc_profile.reset();
  metadata.gamma.reset();
  metadata.chromaticity.reset();
  metadata.srgb_intent.reset();
  metadata.coding_points.reset();
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

}  // namespace gpufilter
