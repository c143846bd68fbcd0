// Counts the samples of a picture that comes as rows.
#pragma once

#include <string>

#include "compute/picture_statistics.hpp"
#include "pipeline/choose/engine.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

struct CountedPicture {
  Histograms histograms;
  EngineReport engine;
  PassReport gathering;
};

// Reads the picture to its end. `reason` says why on this engine; empty: the engine's own reason.
// Throws PictureError, DeviceError.
[[nodiscard]] CountedPicture count_picture(RowReader& reader, Engine& engine,
                                           const std::string& reason,
                                           const OnProgress& on_progress = {});

}  // namespace gpufilter
