// Work spread over the processor's cores. oneTBB is behind it.
#pragma once

#include <functional>

namespace gpufilter {

// Calls work(0), ..., work(parts - 1), several at a time on as many threads as are allowed, this
// one among them; returns when all have ended. A thread that waits here takes up no other task.
// Throws what one of them throws.
void run_parts(int parts, const std::function<void(int part)>& work);

}  // namespace gpufilter
