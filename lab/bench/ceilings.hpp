// What limits work: memory and arithmetic.
#pragma once

#include "lab/bench/report.hpp"
#include "stage/step.hpp"

namespace gpufilter::lab {

// This machine's maximum rates.
struct Ceilings {
  double copy = 0;        // bytes read and written in a second
  double transfer = 0;    // bytes in a second
  double operations = 0;  // multiply-adds in a second
};

[[nodiscard]] Ceilings measure_host_ceilings(const TestBed& bed);
[[nodiscard]] Ceilings measure_device_ceilings(const TestBed& bed);
void add_ceilings(Report& report, const Ceilings& ceilings);

// Additions, multiplications and conversions in an operation of this rate, a multiply-add counted
// once.
[[nodiscard]] double operations_in(const Rate& rate);

}  // namespace gpufilter::lab
