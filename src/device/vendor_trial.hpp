// Uses an OpenCL vendor's library once, as this program will. For TrialServer.
#pragma once

#include <string>

#include "device/trial_server.hpp"

namespace gpufilter {

// Loads the library, and on each of its devices creates a context and a queue, compiles a tiny
// kernel and runs it. A trial ignores failures with an error code. Its notes are the files of all
// shared libraries that the process has loaded by then. Releases nothing: the process is meant to
// end.
void try_vendor(const std::string& library, const TrialNotes& notes);

}  // namespace gpufilter
