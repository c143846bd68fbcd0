// The subcommand "gpufilter help [TOPIC]".
#pragma once

namespace gpufilter {

// Prints the page of a stage or of a subcommand, without a topic the short help; argv[0] is "help".
// Returns 0; throws UsageError, PictureError.
[[nodiscard]] int run_help_command(int argc, const char* const* argv);

}  // namespace gpufilter
