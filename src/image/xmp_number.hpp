// Numbers in XMP.
#pragma once

#include <string_view>

#include "image/metadata.hpp"

namespace gpufilter {

// Sets the property, "tiff:Orientation", wherever the XMP has a whole number for it. XMP writes it
// as an attribute, tiff:Orientation="6", or as an element, <tiff:Orientation>6</tiff:Orientation>.
void set_xmp_number(Bytes& xmp, std::string_view property, int number);

}  // namespace gpufilter
