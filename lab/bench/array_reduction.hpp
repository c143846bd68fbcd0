// Sums, products, minima, maxima and bit combinations of plain arrays: the same bits on every
// device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "compute/picture_reduction.hpp"
#include "device/session.hpp"

namespace gpufilter::lab {

// The totals of an array. Without values, each member is the neutral element of its operation.
struct IntegerTotals {
  std::int64_t sum = 0;
  std::uint64_t sum_of_squares = 0;
  std::int32_t minimum = INT32_MAX;
  std::int32_t maximum = INT32_MIN;
  std::uint64_t product = 1;  // modulo 2^64; the factors are sign-extended
  std::uint32_t bit_and = UINT32_MAX;
  std::uint32_t bit_or = 0;
  std::uint32_t bit_xor = 0;
  bool operator==(const IntegerTotals&) const = default;
};

// A sum of floats depends on the order, which is a tree here (docs/engineering/reductions.md) that
// depends only on the number of values. A NaN result is the same quiet NaN everywhere. Minimum and
// maximum ignore NaNs and put -0 before +0.
struct FloatTotals {
  float sum = 0;
  float sum_of_squares = 0;  // along the first chains by fused multiply-add
  float minimum = std::numeric_limits<float>::infinity();
  float maximum = -std::numeric_limits<float>::infinity();
  float product = 1;
};

// Integers in one reduction. The sum of that many fits 64 bits.
inline constexpr std::uint64_t max_integers = std::uint64_t{1} << 32U;

// The C++ reference. Throws std::overflow_error if the sum of squares does not fit 64 bits, and for
// more than max_integers values.
[[nodiscard]] IntegerTotals reduce_integers(std::span<const std::int32_t> values);
[[nodiscard]] FloatTotals reduce_floats(std::span<const float> values);

// Totals from a device, equal to the reference's. Like FloatReducer, not for use by two threads at
// a time.
class IntegerReducer {
 public:
  // `session` outlives the reducer. Throws DeviceError; UsageError if the device does not offer
  // `path`.
  explicit IntegerReducer(Session& session, ReductionPath path = ReductionPath::automatic);

  // The totals of the first `count` int32 values in `values`; waits until `queue` is done. Throws
  // what the reference throws; UsageError if the buffer is too small.
  [[nodiscard]] IntegerTotals reduce(Queue& queue, const Buffer& values, std::size_t count);

  [[nodiscard]] const CodeDescription& description() const { return description_; }
  // The kernels of the last reduction, for its timing.
  [[nodiscard]] const std::vector<Event>& launches() const { return launches_; }

 private:
  BuiltReduction built_;
  Buffer partials_;
  std::vector<Event> launches_;
  CodeDescription description_;
};

class FloatReducer {
 public:
  explicit FloatReducer(Session& session, ReductionPath path = ReductionPath::automatic);

  // The totals of the first `count` float32 values in `values`; waits until `queue` is done. Throws
  // UsageError if the buffer is too small.
  [[nodiscard]] FloatTotals reduce(Queue& queue, const Buffer& values, std::size_t count);

  [[nodiscard]] const CodeDescription& description() const { return description_; }
  [[nodiscard]] const std::vector<Event>& launches() const { return launches_; }

 private:
  Session& session_;
  BuiltReduction built_;
  std::vector<Event> launches_;
  CodeDescription description_;
};

struct FloatSum {
  std::string name;
  double (*run)(std::span<const float> values);
};

// left to right:     one float, a rounding for each value
// staged 32/32/1024: sums of 32 neighbours from left to right, then sums of 32 such sums, then of
//                    1024, then of what is left, as one work-item, one work-group and one launch
//                    would add them
// tree:              reduce_floats() (array_reduction.hpp)
// Kahan:             one float and the error of its last rounding
// double:            one double, left to right
[[nodiscard]] std::span<const FloatSum> float_sums();

// `count` times `value`, exactly: up to 2^29 times.
[[nodiscard]] double exact_sum(float value, std::size_t count);

}  // namespace gpufilter::lab
