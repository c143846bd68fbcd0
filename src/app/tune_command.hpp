// gpufilter tune: finds the fastest kernels on this machine.
#pragma once

namespace gpufilter {

// argv[0] is "tune". Returns the exit code: 1 if a candidate gave wrong pixels.
[[nodiscard]] int run_tune_command(int argc, const char* const* argv);

}  // namespace gpufilter
