// --verify: parts of a result computed once more by the processor while the picture is filtered.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/plan.hpp"

namespace gpufilter {

// Some blocks of up to block_rows whole rows, chosen at random among all that the plan's bands are
// cut into.
class BlockCheck {
 public:
  static constexpr int block_rows = 8;

  // Chooses `blocks` of them, or all where there are fewer. `plan` outlives the check.
  BlockCheck(const Plan& plan, int blocks, unsigned seed);

  // Computes the chosen blocks of the band `result` by the baseline instruction set from `source`,
  // the band's first window. Safe to call from several threads for different bands. Throws
  // PictureError(`picture`) where a sample differs; the message names `by`, what made the result.
  void check(const ConstRows& source, const ConstRows& result, const std::string& picture,
             const std::string& by);

  // How many were found equal so far.
  [[nodiscard]] int checked() const { return checked_; }

 private:
  const Plan& plan_;
  std::vector<RowRange> chosen_;  // top to bottom
  std::atomic<int> checked_ = 0;
};

}  // namespace gpufilter
