// --crop: a rectangle of the picture.
#pragma once

#include "stage/options/catalogue.hpp"

namespace gpufilter {

struct CropParameters {
  ImageSize size;
  PixelPosition corner;  // its top left pixel
};

[[nodiscard]] std::shared_ptr<const OneStepStage> make_crop(const CropParameters& parameters);

}  // namespace gpufilter
