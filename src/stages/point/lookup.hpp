// Stages that end in a look-up table: levels and tone mapping.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "image/rows.hpp"
#include "stage/stage.hpp"

namespace gpufilter {

// Both fill `target` from the same rows of `source`, whose format it has; alpha stays. The target
// may be the source.

// Colours become table[sample]. The table has max_sample + 1 entries.
void lookup_rows(const ConstRows& source, const MutableRows& target, const std::uint16_t* table);

// Colours become sample * factors[luma], rounded half to even and saturated, in float32; for grey
// pictures luma is the sample. There are max_sample + 1 factors, finite and not negative.
void lookup_rows(const ConstRows& source, const MutableRows& target, const float* factors);

// out = table[sample] for every colour sample; alpha stays. `make_table` gives the max_sample + 1
// entries for pictures of a depth; it is called at most once for each depth. `variant` is what the
// timing shows, and with `stage` the stage's key. Neighbours become one table.
struct SampleLookup {
  std::string stage;
  std::string variant;
  std::function<std::vector<std::uint16_t>(const PixelFormat&)> make_table;
  std::function<std::string(const PixelFormat&)> warning = {};  // as in Lowered; empty: none
};
[[nodiscard]] std::shared_ptr<const OneStepStage> make_lookup(SampleLookup lookup);
[[nodiscard]] StageCost lookup_cost(const PixelFormat& input);

// out = round_half_to_even(sample * factors[luma]), saturated, in float32, for every colour sample;
// alpha stays. luma is that of the luma histogram. Factors are finite and not negative; as above.
struct LumaScaling {
  std::string stage;
  std::string variant;
  std::function<std::vector<float>(const PixelFormat&)> make_factors;
};
[[nodiscard]] std::shared_ptr<const OneStepStage> make_luma_scaling(LumaScaling scaling);
[[nodiscard]] StageCost luma_scaling_cost(const PixelFormat& input);

}  // namespace gpufilter
