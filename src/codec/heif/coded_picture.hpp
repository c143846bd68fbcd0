// A coded picture, decoded by libheif.
#pragma once

#include <string>

#include "codec/heif/functions.hpp"
#include "codec/heif/one_picture.hpp"
#include "codec/read_limits.hpp"
#include "image/image.hpp"

namespace gpufilter {

// Decodes `picture`, which has `depth` bits and is grey or not, to `format`; alpha is opaque. Of
// colours, a grey format gets the middle channel. `name` and `codec` begin and are in messages.
// Throws PictureError, also if the data is another picture than that.
[[nodiscard]] Image decode_coded_picture(const OnePicture& picture, int depth, bool is_grey,
                                         PixelFormat format, const std::string& name,
                                         const std::string& codec, const ReadLimits& limits);

}  // namespace gpufilter
