// gpufilter verify: checks that results on this machine are exact.
#pragma once

namespace gpufilter {

// argv[0] is "verify". Returns the exit code: 1 if anything differs.
[[nodiscard]] int run_verify_command(int argc, const char* const* argv);

}  // namespace gpufilter
