// The options of "gpufilter bench matmul --type".
#pragma once

#include <string>
#include <vector>

#include "app/arguments.hpp"
#include "lab/bench/benches.hpp"

namespace gpufilter {

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
