// The options that all benchmarks share.
#pragma once

#include <string>
#include <vector>

#include "app/cli/arguments.hpp"
#include "base/threads.hpp"
#include "lab/bench/benches.hpp"
#include "lab/bench/report.hpp"

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

// Declares --type, whose values `types` holds from the start.
void add_number_types(Arguments& app, std::vector<std::string>& types);
// With fp8-scaled comes what its sums would be without promotion.
[[nodiscard]] std::vector<lab::NumberType> number_types_of(const std::vector<std::string>& names);

class LowPrecisionOptions {
 public:
  // Declares them; has to live until the command line has been parsed.
  explicit LowPrecisionOptions(Arguments& app);

  // After parsing: whether anything but float32 in dense matrices is to be multiplied.
  [[nodiscard]] bool is_requested() const;
  // `sides` and `shapes`: of --sizes and --shapes. Throws UsageError if other options do not go
  // with these.
  [[nodiscard]] lab::LowMatmulOptions chosen(const Arguments& app, const std::vector<int>& sides,
                                             const std::vector<MatrixShape>& shapes) const;

 private:
  std::vector<std::string> types_{"float32"};
  std::string grouping_ = "dense";
  int groups_ = 4;
};

}  // namespace gpufilter
