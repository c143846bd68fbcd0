// Runs tests of the processor's loops with every instruction set of this machine.
#pragma once

#include "host/instruction_set.hpp"
#include "image/rows.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

// Calls check() once with each instruction set in use; stops at a fatal failure.
template <typename Check>
void with_each_instruction_set(const Check& check) {
  for (const InstructionSet set : available_instruction_sets()) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, to_string(set));
    const InstructionSetInUse in_use(set);
    check();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Whether each byte between the end of a row and the beginning of the next is `pattern`.
[[nodiscard]] inline ::testing::AssertionResult padding_holds(const ConstRows& rows,
                                                              std::uint8_t pattern = 0xA5) {
  const std::size_t end = static_cast<std::size_t>(rows.width) * rows.format.bytes_per_pixel();
  for (int y = rows.rows.begin; y < rows.rows.end; ++y) {
    for (std::size_t i = end; i < rows.pitch; ++i) {
      if (rows.row(y)[i] == pattern) continue;
      return ::testing::AssertionFailure()
             << "row " << y << ": byte " << i - end << " after its end was written";
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace gpufilter::test
