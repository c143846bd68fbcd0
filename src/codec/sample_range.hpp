// Numbers of a range as samples of integers: floats, and integers that are too wide or have a sign.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codec/read_limits.hpp"

namespace gpufilter {

// The sample of 0..max nearest to a number, where range.low is 0 and range.high max, in double
// precision. NaN becomes 0.
[[nodiscard]] std::uint16_t sample_in(const SampleRange& range, double value, std::uint32_t max);

// Watches for numbers outside of a range.
class SeenRange {
 public:
  explicit SeenRange(const SampleRange& range) : range_(range), seen_(range) {}

  // Numbers that are not finite are ignored.
  void note(double value);

  // The smallest and the largest number so far, or the ends of the range if they are further out;
  // nothing if no number was outside of it.
  [[nodiscard]] std::optional<SampleRange> cut_off() const;

 private:
  SampleRange range_;
  SampleRange seen_;
};

// For a warning: `samples`, "32-bit samples with a sign", became samples of 16 bits.
[[nodiscard]] std::string range_account(const std::string& samples, const SampleRange& range,
                                        const std::optional<SampleRange>& cut_off);
// The same for floating-point samples of so many bits.
[[nodiscard]] std::string float_account(int bits, const SampleRange& range,
                                        const std::optional<SampleRange>& cut_off);

}  // namespace gpufilter
