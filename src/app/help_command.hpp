// The subcommand "gpufilter help [TOPIC]".
#pragma once

namespace gpufilter {

// Prints the page of a stage or a subcommand, or the short help without a topic; argv[0] is "help".
// Returns 0; throws UsageError, PictureError.
[[nodiscard]] int run_help_command(int argc, const char* const* argv);

}  // namespace gpufilter
