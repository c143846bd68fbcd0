// Parts of EXIF that do not belong into a result. What is removed becomes zeros; everything else
// stays where it is, so that all offsets stay right, those inside a camera maker's notes too. Bytes
// that another directory uses stay. Damaged EXIF is not changed.
#pragma once

#include "image/metadata.hpp"

namespace gpufilter {

// Removes the thumbnail and its directory (the second, IFD1) from `exif`, a TIFF structure: it
// shows the picture before it was filtered. At the end of the structure it is cut off.
void remove_exif_thumbnail(Bytes& exif);

// Removes the directory of the place where the picture was taken (GPS).
void remove_exif_location(Bytes& exif);

// Removes "Exif\0\0", which some programs write before the TIFF structure where it does not belong,
// or twice.
void remove_exif_prefix(Bytes& exif);

}  // namespace gpufilter
