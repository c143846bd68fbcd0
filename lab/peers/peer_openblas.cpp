#include <cstddef>
#include <vector>

#include <cblas.h>

#include "cases.hpp"

namespace gpufilter::bench {

// The rate that networks are compared with: a product of large square matrices.
void add_openblas() {
  static constexpr int side = 1024;
  static constexpr std::size_t elements = std::size_t{side} * side;
  static const std::vector<float> a(elements, 0.5F);
  static const std::vector<float> b(elements, 0.25F);
  static std::vector<float> c(elements);
  openblas_set_num_threads(1);
  benchmark::RegisterBenchmark("network/OpenBLAS SGEMM 1024", [](benchmark::State& state) {
    for ([[maybe_unused]] auto each : state) {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, side, side, side, 1.0F, a.data(), side,
                  b.data(), side, 0.0F, c.data(), side);
      benchmark::ClobberMemory();
    }
    state.counters["GFLOP/s"] =
        benchmark::Counter(2e-9 * side * side * side * static_cast<double>(state.iterations()),
                           benchmark::Counter::kIsRate);
  })->Unit(benchmark::kMillisecond);
}

}  // namespace gpufilter::bench
