// What XMP says about other parts of the file that it is in: a film, a gain map, depth.
#pragma once

#include <optional>
#include <string_view>

#include "image/metadata.hpp"

namespace gpufilter {

struct XmpParts {
  bool gain_map = false;
  bool depth_map = false;
};

// Removes what announces such parts, so that nobody looks for them in a file without them: Google's
// motion photo and its directory of parts, and the version of a gain map. Returns what was
// announced.
XmpParts remove_announced_parts(Bytes& xmp);

// The first whole number that the XMP has for the property, "tiff:Orientation". XMP writes it as an
// attribute, tiff:Orientation="6", or as an element, <tiff:Orientation>6</tiff:Orientation>.
[[nodiscard]] std::optional<int> xmp_number(const Bytes& xmp, std::string_view property);

// Sets the property wherever the XMP has a whole number for it.
void set_xmp_number(Bytes& xmp, std::string_view property, int number);

}  // namespace gpufilter
