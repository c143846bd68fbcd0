// How much memory this machine has.
#pragma once

#include <cstdint>

namespace gpufilter {

// Bytes of memory of the machine, or of the control group if that has fewer.
[[nodiscard]] std::uint64_t machine_memory();

}  // namespace gpufilter
