#include "image/metadata.hpp"

#include <iterator>
#include <utility>

#include "image/exif_orientation.hpp"

namespace gpufilter {

Metadata stripped(const Metadata& metadata) {
  Metadata kept;
  kept.icc_profile = metadata.icc_profile;
  kept.exif = exif_with_orientation_alone(metadata.exif);
  kept.gamma = metadata.gamma;
  kept.chromaticity = metadata.chromaticity;
  kept.srgb_intent = metadata.srgb_intent;
  kept.coding_points = metadata.coding_points;
  kept.density = metadata.density;
  return kept;
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
