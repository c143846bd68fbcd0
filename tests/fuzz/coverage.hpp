// How much of the library the fuzzers have run, if it is compiled with -fsanitize-coverage=trace-pc
// (the preset fuzz).
#pragma once

#include <cstddef>

namespace gpufilter::test {

// Blocks of code without a jump that have been run so far; 0 if they are not counted.
[[nodiscard]] std::size_t covered_blocks();

}  // namespace gpufilter::test
