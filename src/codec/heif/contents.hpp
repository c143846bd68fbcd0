// What a HEIC or AVIF file holds besides its primary picture.
#pragma once

#include <string>
#include <vector>

#include "codec/heif/items.hpp"

namespace gpufilter {

// By names for the user: "2 more pictures", "a gain map", "a sequence of 24 frames", "a film".
// Thumbnails, alpha and the parts of pictures do not count.
[[nodiscard]] std::vector<std::string> heif_contents(const HeifItems& items);

}  // namespace gpufilter
