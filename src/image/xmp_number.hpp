// Numbers in XMP.
#pragma once

#include <optional>
#include <string_view>

#include "image/metadata.hpp"

namespace gpufilter {

// The first whole number that the XMP has for the property, "tiff:Orientation". XMP writes it as an
// attribute, tiff:Orientation="6", or as an element, <tiff:Orientation>6</tiff:Orientation>.
[[nodiscard]] std::optional<int> xmp_number(const Bytes& xmp, std::string_view property);

// Sets the property wherever the XMP has a whole number for it.
void set_xmp_number(Bytes& xmp, std::string_view property, int number);

}  // namespace gpufilter
