// gpufilter tune: which kernels are the fastest here?
#pragma once

namespace gpufilter {

// argv[0] is "tune". Returns the exit code: 1 if a candidate gave wrong pixels.
[[nodiscard]] int run_tune_command(int argc, const char* const* argv);

}  // namespace gpufilter
