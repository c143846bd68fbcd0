// One operation over an array by the textbook kernel, with work-groups of any size.
#pragma once

#include <cstdint>
#include <vector>

#include "device/session.hpp"

namespace gpufilter::lab {

enum class Operation { sum, product, minimum, maximum, bit_and, bit_or, bit_xor };
[[nodiscard]] const char* to_string(Operation operation);

class GroupReduction {
 public:
  // Reduces int32 values, or float32 values, for which there are no bit operations. Throws
  // UsageError if the device does not support groups of that size.
  GroupReduction(Session& session, Operation operation, bool of_floats, int group_size);

  Event enqueue(Queue& queue, const Buffer& values, std::size_t count);

  // The result of the last run. Integers: as IntegerTotals holds them, in 64 bits. Floats: a float,
  // added in an order that depends on the size of groups.
  [[nodiscard]] std::uint64_t integer(Queue& queue) const;
  [[nodiscard]] float number(Queue& queue) const;

 private:
  template <typename Total>
  [[nodiscard]] std::vector<Total> totals(Queue& queue) const;

  Operation operation_;
  std::size_t group_size_;
  std::size_t groups_;
  Kernel kernel_;
  Buffer totals_;
};

}  // namespace gpufilter::lab
