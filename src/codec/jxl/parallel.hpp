// Lets libjxl use the program's threads.
#pragma once

#include <cstdint>

#include <jxl/parallel_runner.h>

namespace gpufilter {

// A JxlParallelRunner, without a state of its own.
JxlParallelRetCode run_for_jxl(void* runner, void* jxl, JxlParallelRunInit init,
                               JxlParallelRunFunction function, std::uint32_t begin,
                               std::uint32_t end);

}  // namespace gpufilter
