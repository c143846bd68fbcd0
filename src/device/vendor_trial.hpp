// Uses an OpenCL vendor's library once, as this program will. For TrialServer.
#pragma once

#include <string>

#include "device/trial_server.hpp"

namespace gpufilter {

// Loads the library, and on each of its devices makes a context and a queue, compiles a tiny
// kernel and runs it. What fails with an error code is no concern of a trial. Its notes are the
// files of all shared libraries that the process has loaded by then. Gives nothing back: the
// process is meant to end.
void try_vendor(const std::string& library, const TrialNotes& notes);

}  // namespace gpufilter
