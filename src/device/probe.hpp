// Tries an OpenCL vendor's library in a process of its own, which it may crash. See
// docs/engineering/decisions/0016.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace gpufilter {

struct ProbeResult {
  bool works = false;  // it was loaded and used to the end
  // If it does not work: whether it failed by itself (an abort, an exit, a hang), so that another
  // probe would end in the same way. False if the process was killed from outside.
  bool conclusive = false;
  std::string failure;  // "it failed when probed in a separate process: SIGABRT while loading it"
  std::vector<std::string> files;  // of the shared libraries that were loaded, if it works
};

// Starts a process that loads the library and, on each of its devices, runs a tiny kernel; kills it
// after `limit`. Its output does not reach the user's terminal; the first line is quoted if it
// fails. The process is this program again if it calls answer_probes(), otherwise the program
// "gpufilter" in PATH. Safe to call from several threads, and while others run: nothing is forked
// that does not become another program at once.
[[nodiscard]] ProbeResult probe_library(const std::string& library,
                                        std::chrono::milliseconds limit);

}  // namespace gpufilter
