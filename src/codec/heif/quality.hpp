// How a HEIC or AVIF was written.
#pragma once

#include <optional>

#include "codec/heif/tree.hpp"

namespace gpufilter {

// Whether every sample is stored: as red, green and blue, or as grey.
[[nodiscard]] bool is_lossless_heif(const HeifPicture& picture);

// The highest quality of libheif that gives the picture's quantiser, or that of its first part.
// Nothing if its headers are of a rare kind.
[[nodiscard]] std::optional<int> heif_quality(const HeifPicture& picture);

}  // namespace gpufilter
