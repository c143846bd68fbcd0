// The reference for every result: the stages one after the other on one thread, with the
// processor's baseline instruction set, without bands, strips, kernels or vectors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "image/image.hpp"
#include "pipeline/plan/plan.hpp"

namespace gpufilter {

// How many of `all` rows of a result the processor computes in about a hundredth of a second; but
// no fewer than make the rows around them, which a stage begins with, cheap.
[[nodiscard]] int rows_between_checks(const Pass& pass, int all);

// Calls the stage of a pass with rows that lie within the picture; the ranges may reach past its
// edges, where rows are repeated. Throws Stopped.
void run_on_host(const Pass& pass, const ConstRows& source, const MutableRows& target);

// The rows `wanted` of the plan's result. `source` covers plan.windows(wanted).front().
[[nodiscard]] Image baseline_rows(const Plan& plan, const ConstRows& source,
                                  const RowRange& wanted);

// The first sample in which two pictures differ.
struct DifferingSample {
  int x = 0;
  int y = 0;
  int channel = 0;
  std::uint32_t expected = 0;
  std::uint32_t found = 0;
  bool operator==(const DifferingSample&) const = default;
};

// Row by row, left to right; nothing if all are equal. Both have the same rows, width and
// format.
[[nodiscard]] std::optional<DifferingSample> first_difference(const ConstRows& expected,
                                                              const ConstRows& found);

// "row 12, column 5, green: 37 instead of 36", rows and columns counted from 0.
[[nodiscard]] std::string to_string(const DifferingSample& sample, const PixelFormat& format);

}  // namespace gpufilter
