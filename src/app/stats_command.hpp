// The subcommand "gpufilter stats FILE".
#pragma once

namespace gpufilter {

// Prints statistics of a picture, as a table or as JSON, and draws its histogram; argv[0] is
// "stats". Returns 0; throws UsageError, PictureError, DeviceError.
[[nodiscard]] int run_stats_command(int argc, const char* const* argv);

}  // namespace gpufilter
