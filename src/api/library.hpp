// What every public function begins with.
#pragma once

namespace gpufilter {

// From the first call on, log lines go to the callback of set_log() instead of standard error, and
// the environment is left alone if other threads exist.
void enter_library();

}  // namespace gpufilter
