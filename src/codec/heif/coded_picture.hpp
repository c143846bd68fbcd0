// A coded picture, decoded by libheif.
#pragma once

#include <string>
#include <string_view>

#include "codec/heif/functions.hpp"
#include "codec/heif/items.hpp"
#include "codec/read_limits.hpp"
#include "image/image.hpp"
#include "image/metadata.hpp"
#include "image/rows.hpp"

namespace gpufilter {

struct OnePicture {
  std::string_view type;   // "hvc1" or "av01"
  ByteSpan configuration;  // the content of "hvcC" or "av1C"
  ImageSize size;
  ByteSpan colors;  // the content of "colr"; empty: as the stream says
  ByteSpan data;
  int depth;  // bits of a sample
  bool is_grey;
};

// A file of that picture alone, for libheif: whatever a file's boxes say, libheif sees only these.
[[nodiscard]] Bytes file_of(const OnePicture& picture);

// Decodes `picture` to `format`; alpha is opaque. Of
// colours, a grey format gets the middle channel. `name` and `codec` begin and are in messages.
// Throws PictureError, also if the data is another picture than that.
[[nodiscard]] Image decode_coded_picture(const OnePicture& picture, PixelFormat format,
                                         const std::string& name, const std::string& codec,
                                         const ReadLimits& limits);

}  // namespace gpufilter
