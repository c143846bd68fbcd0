// The main job for a folder or several pictures:
// "gpufilter INPUT... OUTDIR [STAGE...] [OPTION...]".
#pragma once

#include "app/filter/filter_options.hpp"

namespace gpufilter {

// Times are counted from `start`. Returns 0, or 1 if a picture failed; throws UsageError,
// PictureError, DeviceError.
[[nodiscard]] int run_batch_command(const FilterOptions& options, Nanoseconds start);

}  // namespace gpufilter
