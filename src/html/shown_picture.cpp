#include "html/shown_picture.hpp"

#include <utility>

#include "host/turn_rows.hpp"
#include "image/exif_orientation.hpp"
#include "pipeline/run/memory_picture.hpp"
#include "stages/colour/color_profile.hpp"
#include "stages/colour/convert_colors.hpp"

namespace gpufilter::html {
namespace {

Image in_srgb(Image image, const Metadata& metadata) {
  try {
    Timeline unused;
    const PictureContext picture{.shape = {image.size(), image.format()},
                                 .metadata = std::make_shared<Metadata>(metadata)};
    return lab::filter_in_memory(
        image, lower_chain({make_to_srgb({})}, picture), {},
        [&](const Plan& plan) { return make_host_executor(plan, unused); });
  } catch (const UnusableProfile&) {
    return image;
  }
}

}  // namespace

Image as_shown(Image image, const Metadata& metadata) {
  return turned(in_srgb(std::move(image), metadata),
                turn_for_orientation(stored_orientation(metadata).value_or(1)));
}

}  // namespace gpufilter::html
