// gpufilter verify: are all results on this machine exact?
#pragma once

namespace gpufilter {

// argv[0] is "verify". Returns the exit code: 1 if anything differs.
[[nodiscard]] int run_verify_command(int argc, const char* const* argv);

}  // namespace gpufilter
