// The kernels of lab/kernels and lab/products/kernels, which only measurements use.
#pragma once

#include "base/installed_files.hpp"

namespace gpufilter::lab {

// The laboratory's kernels, embedded at build time.
[[nodiscard]] const EmbeddedFiles& lab_kernels();

}  // namespace gpufilter::lab
