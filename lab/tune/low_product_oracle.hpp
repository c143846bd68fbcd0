// What a low-precision product on a device has to be.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/products/device_low_product.hpp"
#include "lab/products/sampled_errors.hpp"

namespace gpufilter::lab {

class LowProductOracle {
 public:
  // An oracle for a product whose matrices were filled by fill(). The product has to outlive the
  // oracle.
  explicit LowProductOracle(const LowProduct& product);

  // How C differs from the processor's, if it does; rows that are not in use have to be poisoned
  // still. Sums of a method that is not exact have to be as close as no design explains to miss,
  // and equal to those that were close before by the same instructions: how work is divided changes
  // no bit.
  [[nodiscard]] std::optional<std::string> difference(const DeviceMethod& method,
                                                      const std::vector<std::uint32_t>& c);

 private:
  using Bits = std::vector<std::uint32_t>;
  [[nodiscard]] std::optional<std::string> difference_from(const Bits& expected,
                                                           const Bits& found) const;

  const LowProduct& product_;
  SampledErrors errors_;
  Bits expected_;
  std::map<std::string, Bits> close_;  // by algorithm
};

}  // namespace gpufilter::lab
