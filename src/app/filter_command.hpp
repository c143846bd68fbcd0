// The main job: "gpufilter INPUT OUTPUT [STAGE...] [OPTION...]".
#pragma once

namespace gpufilter {

// Runs it; argv[0] is the program. Returns 0; throws UsageError, PictureError, DeviceError.
[[nodiscard]] int run_filter_command(int argc, const char* const* argv);

}  // namespace gpufilter
