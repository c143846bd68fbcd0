// --trim: cuts off edges of one colour.
#pragma once

#include "image/image.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/geometry/crop.hpp"

namespace gpufilter {

// `fuzz` percent of the full range may be between the samples of equal pixels.
[[nodiscard]] std::shared_ptr<const Stage> make_trim(double fuzz);

// The smallest rectangle outside which all pixels are like the top left one: no sample differs by
// more than `limit`, or both have the alpha 0. The whole picture if all of them are.
[[nodiscard]] CropParameters content_of(const WholePicture& picture, std::uint32_t limit);

}  // namespace gpufilter
