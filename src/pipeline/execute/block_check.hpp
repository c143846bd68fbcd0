// --verify: computes parts of a result again on the processor while the picture is filtered.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "pipeline/plan/plan.hpp"

namespace gpufilter {

// Some blocks of up to block_rows whole rows, chosen at random from all blocks of the plan's bands.
class BlockCheck {
 public:
  static constexpr int block_rows = 8;

  // Chooses `blocks` of them, or all if there are fewer. `plan` has to outlive the check.
  BlockCheck(const Plan& plan, int blocks, unsigned seed);

  // Computes the chosen blocks of the band `result` by the baseline instruction set from `source`,
  // the band's first window. Safe to call from several threads for different bands. Throws
  // PictureError(`picture`) if a sample differs; the message names `by`, which made the result.
  void check(const ConstRows& source, const ConstRows& result, const std::string& picture,
             const std::string& by);

  // The number of blocks found equal so far.
  [[nodiscard]] int checked() const { return checked_; }

 private:
  const Plan& plan_;
  std::vector<RowRange> chosen_;  // top to bottom
  std::atomic<int> checked_ = 0;
};

}  // namespace gpufilter
