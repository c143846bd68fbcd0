// What is known of a run once the header of its input is read.
#pragma once

#include "pipeline/run/picture_input.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// The lowered stages of a picture with several outputs.
struct LoweredTree {
  LoweredChain main;
  std::vector<LoweredChain> branches = {};  // as in RunOptions

  // The stages that `output` goes through; its place is one in `main`.
  [[nodiscard]] LoweredChain to(const ChainOutput& output) const;
};

// Whether what the chain does depends on the picture's EXIF orientation.
[[nodiscard]] bool depends_on_orientation(const StageChain& chain);

// Whether the result of these stages is their input, as far as that is known without its pixels.
[[nodiscard]] bool change_nothing(const LoweredChain& stages, PictureShape shape);
// The chain for a picture with this header and this EXIF orientation. `outputs` get their places in
// it. Throws PictureError with the file's `name`, and UsageError.
[[nodiscard]] LoweredChain lower_for(const StageChain& chain, const std::string& name,
                                     const PictureHeader& header, int orientation,
                                     std::vector<ChainOutput>& outputs);

// The stages for the same picture, with those of `branches`. Throws as lower_for() does, and
// UsageError for a branch that demands more than rows.
[[nodiscard]] LoweredTree lower_for(const StageChain& chain,
                                    const std::vector<StageChain>& branches,
                                    const PictureInput& input, std::vector<ChainOutput>& outputs);
// Adapts the stages to the same picture decoded smaller, as lower_for_smaller() does.
void lower_for_smaller(LoweredTree& tree, const std::vector<ChainOutput>& outputs,
                       const PictureInput& input, const PictureShape& whole, int divisor);

// After the stages before `first` have run and left a picture of this shape, which may differ from
// what later ones were lowered for.
void lower_branches_again(LoweredTree& tree, const std::vector<ChainOutput>& outputs,
                          std::size_t first, const PictureShape& source);

// The profile of a chain's result; nullptr: the input's.
[[nodiscard]] std::shared_ptr<const IccProfile> last_profile(const LoweredChain& chain);

// Whether each pixel of what a chain yields for a picture of this shape is where it was.
[[nodiscard]] bool keeps_positions(const LoweredChain& chain, PictureShape shape);

// For a chain that only turns the picture: no other device is needed.
[[nodiscard]] EngineReport engine_that_turns();
// For one whose result is not decoded; `account` says so.
[[nodiscard]] EngineReport engine_of_stored(const std::string& account);

// Checks before any work that every stage accepts its input's size, and that no result exceeds
// `limits`. Throws PictureError with the file's `name`.
void check_results(const std::string& name, PictureShape shape, const LoweredChain& chain,
                   const ReadLimits& limits);

// Meets the demands of these stages, one after the other. The stages before `first` have run
// already. measure(i, quantity) returns statistics of the result of the stages from `first` to
// before `i`; keep(i) keeps that result as stage `i` demands, so that later stages start from it,
// and returns whether a part of the stage's work is left; check() is called if so.
template <typename Measure, typename Keep, typename Check>
void settle(LoweredChain& chain, std::size_t& first, const Measure& measure, const Keep& keep,
            const Check& check) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const auto& demand = chain[i].demand;
    if (!demand) continue;
    if (demand->statistics) {
      meet_demand(chain, i, measure(i, *demand->statistics));
      continue;
    }
    const bool is_left = keep(i);
    first = is_left ? i : i + 1;
    if (is_left) check();
  }
}

}  // namespace gpufilter
