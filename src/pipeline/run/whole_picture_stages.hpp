// The stages of a chain that need the whole picture before they can work.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "stage/stage.hpp"

namespace gpufilter {

[[nodiscard]] inline bool needs_whole_picture(const Stage& stage) {
  return stage.needs().has_value() || stage.keeps_source().has_value();
}

// The statistics of a picture of this format.
struct Measured {
  PictureStatistics statistics;
  PixelFormat format;
};

// Replaces these stages, one after the other, by what they become once they know it. The stages
// before `first` have run already. measure(i, quantity) returns a Measured of what the stages from
// `first` to the one before `i` yield; keep(i) has that kept as the stage `i` says, from where the
// stages after it go on, and returns the rest of this stage; check() is called when a rest has
// taken the stage's place.
template <typename Measure, typename Keep, typename Check>
void settle(StageChain& chain, std::size_t& first, const Measure& measure, const Keep& keep,
            const Check& check) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (const auto quantity = chain[i]->needs()) {
      const Measured measured = measure(i, *quantity);
      chain[i] = chain[i]->resolved(measured.statistics, measured.format);
    }
    if (!chain[i]->keeps_source()) continue;
    auto rest = keep(i);
    first = rest ? i : i + 1;
    if (!rest) continue;
    chain[i] = std::move(rest);
    check();
  }
}

}  // namespace gpufilter
