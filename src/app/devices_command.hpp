// The subcommand "gpufilter devices".
#pragma once

namespace gpufilter {

// Lists the OpenCL devices, as a table or as JSON; argv[0] is "devices". Returns 0, even if there
// is none. Throws UsageError.
[[nodiscard]] int run_devices_command(int argc, const char* const* argv);

}  // namespace gpufilter
