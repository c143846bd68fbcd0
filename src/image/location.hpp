// Where a picture was taken.
#pragma once

#include "image/metadata.hpp"

namespace gpufilter {

// Removes EXIF's GPS directory, and properties of XMP and texts whose names begin with GPS
// ("exif:GPSLatitude"), in any case.
void remove_location(Metadata& metadata);

}  // namespace gpufilter
