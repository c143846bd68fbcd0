// Distributes work over the processor's cores, through oneTBB.
#pragma once

#include <functional>

namespace gpufilter {

// Calls work(0), ..., work(parts - 1) in parallel on all allowed threads, including this one, and
// returns when all calls have ended. While it waits, this thread takes no other tasks. Rethrows the
// exception of one of the calls.
void run_parts(int parts, const std::function<void(int part)>& work);

}  // namespace gpufilter
