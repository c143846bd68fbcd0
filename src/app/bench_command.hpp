// The subcommand "gpufilter bench".
#pragma once

#include <string>
#include <vector>

namespace gpufilter {

// Measures what the next argument names, and prints a table, JSON or CSV; argv[0] is "bench".
// Returns 0; 1 if bits differ. Throws UsageError, DeviceError, PictureError.
[[nodiscard]] int run_bench_command(int argc, const char* const* argv);

[[nodiscard]] std::vector<std::string> bench_names();

}  // namespace gpufilter
