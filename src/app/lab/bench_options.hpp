// The options that all benchmarks share.
#pragma once

#include <string>

#include "app/cli/arguments.hpp"
#include "base/thread_limit.hpp"
#include "lab/bench/test_bed.hpp"

namespace gpufilter {

struct BenchOptions {
  std::string device = "opencl";
  bool require_device = false;
  int trials = 5;
  int threads = 0;  // 0: all cores
  bool json = false;
  bool csv = false;
  bool quiet = false;
  std::string plot;  // file; empty: none
};

// Declares them.
void add_bench_options(Arguments& app, BenchOptions& options);

// A list of whole numbers separated by commas, each of which `check` accepts.
void add_numbers(Arguments& app, const std::string& name, std::vector<int>& numbers,
                 const ValueCheck& check, const std::string& help);

// Measures on the requested device, with progress on standard error if that is a terminal; prints
// and draws. Returns the exit code. Throws what make_test_bed() throws.
[[nodiscard]] int finish_bench(const BenchOptions& options,
                               const std::function<lab::Report(const lab::TestBed&)>& measure);

}  // namespace gpufilter
