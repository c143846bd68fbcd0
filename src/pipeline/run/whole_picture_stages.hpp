// The stages of a chain that need the whole picture before they can work.
#pragma once

#include <cstddef>

#include "stage/lowering.hpp"

namespace gpufilter {

// Meets the demands of these stages, one after the other. The stages before `first` have run
// already. measure(i, quantity) returns the statistics of what the stages from `first` to the one
// before `i` yield; keep(i) has that kept as the stage `i` demands, from where the stages after it
// go on, meets the demand, and returns whether a part of the stage's work is left; check() is
// called if so.
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
