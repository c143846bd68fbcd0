// A file of one coded picture, for libheif: whatever a file's boxes say, libheif sees only these.
#pragma once

#include <string_view>

#include "codec/heif/boxes.hpp"
#include "image/metadata.hpp"
#include "image/rows.hpp"

namespace gpufilter {

struct OnePicture {
  std::string_view type;   // "hvc1" or "av01"
  ByteSpan configuration;  // the content of "hvcC" or "av1C"
  ImageSize size;
  ByteSpan colors;  // the content of "colr"; empty: as the stream says
  ByteSpan data;
};

[[nodiscard]] Bytes file_of(const OnePicture& picture);

}  // namespace gpufilter
