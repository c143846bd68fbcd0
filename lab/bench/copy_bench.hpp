// Copies of memory: nothing that reads and writes as many bytes can be faster.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/bench/report.hpp"

namespace gpufilter::lab {

// Bytes read and written per second.
struct CopyRates {
  double device = 0;    // by a kernel, 16 bytes a work-item; 0: there is no device
  double one_core = 0;  // of the processor
  double all_cores = 0;
};
// The rates of copies of `bytes`.
[[nodiscard]] CopyRates measure_copies(const TestBed& bed, std::size_t bytes);

// Copies words of one type from buffer to buffer.
class CopyKernel {
 public:
  // `word`: "uint", "uint2", "uint4"; `word_bytes` long.
  CopyKernel(Session& session, const char* word, std::size_t word_bytes);

  // Copies whole words only.
  Event enqueue(Queue& queue, const Buffer& source, const Buffer& target, std::size_t bytes) const;

 private:
  Kernel kernel_;
  std::size_t word_bytes_;
};

// memcpy, distributed over all allowed cores.
void copy_on_all_cores(std::uint8_t* target, const std::uint8_t* source, std::size_t bytes);

}  // namespace gpufilter::lab
