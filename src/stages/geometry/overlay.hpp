// --overlay: lays another picture over the picture.
#pragma once

#include <string>

#include "image/image.hpp"
#include "stage/gravity.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// Where a picture lies in another: as placed() says.
struct OverlayPlace {
  Gravity gravity = Gravity::center;
  PixelPosition offset;
  bool operator==(const OverlayPlace&) const = default;
};

// "southeast+10+20", "center", "-5+0". Throws UsageError.
[[nodiscard]] OverlayPlace parse_overlay_place(const std::string& text);

// `picture` is of any format and size; `opacity` is from 0 to 1.
[[nodiscard]] std::shared_ptr<const Stage> make_overlay(Image picture, const OverlayPlace& place,
                                                        double opacity, std::string label);

}  // namespace gpufilter
