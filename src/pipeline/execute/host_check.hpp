// The reference for every result: the stages one after the other on one thread, with the
// processor's baseline instruction set, without bands, strips, kernels or vectors.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "image/image.hpp"
#include "pipeline/plan/plan.hpp"

namespace gpufilter {

// How many of `all` rows of a result the processor computes in about a hundredth of a second; but
// no fewer than make the rows around them, which a stage begins with, cheap.
[[nodiscard]] int rows_between_checks(const Pass& pass, int all);

// Calls the stage of a pass with rows that lie within the picture; the ranges may reach past its
// edges, where rows are repeated. The instruction set is the one that the pass was planned with.
// Throws Stopped.
void run_on_host(const Pass& pass, const ConstRows& source, const MutableRows& target);

// A plan for the baseline, whatever set is in use.
[[nodiscard]] Plan baseline_plan(const PictureShape& input, const LoweredChain& chain);

// The rows `wanted` of the result of such a plan. `source` covers plan.windows(wanted).front().
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

// --verify: computes parts of a result again while the picture is filtered.
// Some blocks of up to block_rows whole rows, chosen at random from all blocks of the plan's bands.
class BlockCheck {
 public:
  static constexpr int block_rows = 8;

  // Chooses `blocks` of them, or all if there are fewer. `chain` is the plan's.
  BlockCheck(const Plan& plan, const LoweredChain& chain, int blocks, unsigned seed);

  // Computes the chosen blocks of the band `result` by the baseline instruction set from `source`,
  // the band's first window. Safe to call from several threads for different bands. Throws
  // PictureError(`picture`) if a sample differs; the message names `by`, which made the result.
  void check(const ConstRows& source, const ConstRows& result, const std::string& picture,
             const std::string& by);

  // The number of blocks found equal so far.
  [[nodiscard]] int checked() const { return checked_; }

 private:
  Plan baseline_;
  std::vector<RowRange> chosen_;  // top to bottom
  std::atomic<int> checked_ = 0;
};

}  // namespace gpufilter
