#include "pipeline/execute/block_check.hpp"

#include <algorithm>
#include <iterator>
#include <random>

#include "base/error.hpp"
#include "base/format.hpp"
#include "pipeline/execute/host_check.hpp"

namespace gpufilter {

BlockCheck::BlockCheck(const Plan& plan, int blocks, unsigned seed) : plan_(plan) {
  std::vector<RowRange> all;
  for (const RowRange& band : plan.bands()) {
    for (int y = band.begin; y < band.end; y += block_rows)
      all.push_back({y, std::min(y + block_rows, band.end)});
  }
  std::sample(all.begin(), all.end(), std::back_inserter(chosen_), blocks, std::mt19937(seed));
}

void BlockCheck::check(const ConstRows& source, const ConstRows& result, const std::string& picture,
                       const std::string& by) {
  for (const RowRange& block : chosen_) {
    if (!result.rows.contains(block)) continue;
    const Image expected = baseline_rows(plan_, source, block);
    const auto sample = first_difference(expected.rows(), result.part(block));
    if (sample) {
      throw PictureError(picture,
                         formatted("not verified: {} differs from the processor's baseline: {}", by,
                                   to_string(*sample, expected.format())));
    }
    ++checked_;
  }
}

}  // namespace gpufilter
