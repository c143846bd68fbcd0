// The small picture that cameras put into EXIF.
#pragma once

#include "image/metadata.hpp"

namespace gpufilter {

// Removes the thumbnail and its directory (the second, IFD1) from `exif`, a TIFF structure: it
// shows the picture before it was filtered. Everything else stays where it is, so that all offsets
// stay right, those inside a camera maker's notes too: the thumbnail's bytes are cut off at the end
// of the structure, and become zeros elsewhere. Bytes that another directory uses stay. Does
// nothing if there is no thumbnail or `exif` is damaged.
void remove_exif_thumbnail(Bytes& exif);

}  // namespace gpufilter
