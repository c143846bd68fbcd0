// The kernels of src/lab/kernels, which only measurements use.
#pragma once

#include "device/kernel_source.hpp"

namespace gpufilter::lab {

// As they were at build time.
[[nodiscard]] const KernelFiles& lab_kernels();

}  // namespace gpufilter::lab
