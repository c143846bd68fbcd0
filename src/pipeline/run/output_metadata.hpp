// The metadata of an output, where it cannot be that of the input.
#pragma once

#include "codec/codec_table.hpp"

namespace gpufilter {

// For a result of this shape in a file of the format of `codec`: the sizes that EXIF and XMP repeat
// are those of the result, and colours become a profile if the file cannot name them otherwise.
void adapt_metadata(Metadata& metadata, const PictureShape& picture, const Codec& codec);

}  // namespace gpufilter
