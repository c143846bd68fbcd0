// The options of "gpufilter bench matmul --type", and the types themselves for other commands.
#pragma once

#include <string>
#include <vector>

#include "app/cli/arguments.hpp"
#include "lab/bench/benches.hpp"

namespace gpufilter {

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
