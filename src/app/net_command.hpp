// The subcommand "gpufilter net FILE".
#pragma once

namespace gpufilter {

// Describes a network for --net; argv[0] is "net". Returns 0; throws UsageError.
[[nodiscard]] int run_net_command(int argc, const char* const* argv);

}  // namespace gpufilter
