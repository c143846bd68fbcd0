// How far a low-precision product is from the product in double precision.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/products/low_product.hpp"

namespace gpufilter::lab {

// Relative to the root of the mean square of the elements.
struct ProductErrors {
  double rms = 0;      // the root of the mean square of the differences
  double largest = 0;  // the largest difference
  // The root mean square error against the product of the rounded values: the error of the
  // additions alone.
  double of_sums = 0;
};

// Larger errors of additions are mistakes: no design explains them.
inline constexpr double largest_error_of_sums = 0.01;

// Exact products of a sample of elements, at most 32 x 32 for each part of the product.
class SampledErrors {
 public:
  // The errors of a product filled by fill().
  explicit SampledErrors(const LowProduct& product);

  [[nodiscard]] ProductErrors of(const std::vector<std::uint32_t>& c) const;

 private:
  struct Sample {
    std::size_t index = 0;  // in C
    double exact = 0;
    double rounded = 0;
  };
  NumberType type_;
  std::vector<Sample> samples_;
};

// The required result of a low-precision product on a device.
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
