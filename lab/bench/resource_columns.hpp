// What a row's kernels take of their device.
#pragma once

#include <vector>

#include "device/kernel_figures.hpp"
#include "lab/bench/report.hpp"

namespace gpufilter::lab {

// "registers", "spilled_bytes", "private_bytes", "resident_groups".
[[nodiscard]] std::vector<Column> resource_columns();

// The highest figures of the kernels, as far as the driver tells; `registers` are those of a
// compute unit.
void add_resources(Row& row, const std::vector<KernelFigures>& kernels, std::uint64_t registers);

}  // namespace gpufilter::lab
