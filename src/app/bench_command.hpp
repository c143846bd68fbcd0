// The subcommand "gpufilter bench".
#pragma once

namespace gpufilter {

// Measures what the next argument names, and prints a table, JSON or CSV; argv[0] is "bench".
// Returns 0; 1 if bits differ. Throws UsageError, DeviceError, PictureError.
[[nodiscard]] int run_bench_command(int argc, const char* const* argv);

}  // namespace gpufilter
