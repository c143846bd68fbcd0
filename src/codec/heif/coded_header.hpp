// What the headers of a picture's bit stream say. The decoder follows them, whatever the boxes say.
#pragma once

#include <optional>

#include "codec/heif/items.hpp"
#include "image/rows.hpp"

namespace gpufilter {

struct CodedHeader {
  ImageSize size;
  int depth = 8;
  bool is_grey = false;
  // AV1's of 0 to 255, HEVC's of 0 to 51; nothing if the headers are of a rare kind.
  std::optional<int> quantiser;
  bool may_be_lossless = false;  // as far as the samples of the stream are concerned
};

// From a decoder's configuration ("av1C", "hvcC") and the picture's data. Nothing if neither has
// the headers.
[[nodiscard]] std::optional<CodedHeader> av1_header(ByteSpan configuration, ByteSpan data);
[[nodiscard]] std::optional<CodedHeader> hevc_header(ByteSpan configuration, ByteSpan data);

}  // namespace gpufilter
