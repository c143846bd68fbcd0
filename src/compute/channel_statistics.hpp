// What people and programs want to know of a channel's samples.
#pragma once

#include <array>
#include <cstdint>

#include "compute/picture_statistics.hpp"

namespace gpufilter {

inline constexpr std::array percentages{1, 5, 25, 50, 75, 95, 99};

// One channel, from its histogram: whole numbers are exact, others are rounded once.
struct ChannelStatistics {
  std::uint64_t count = 0;
  ChannelTotals totals;
  double mean = 0;
  double deviation = 0;  // standard deviation of the whole population: the divisor is the count
  // Of each of `percentages`; see percentile().
  std::array<std::uint64_t, percentages.size()> percentiles{};
};
// `histogram` counts at least one sample, here and below.
[[nodiscard]] ChannelStatistics channel_statistics(const Histogram& histogram);

// By nearest rank: the smallest value that at least this percentage of the samples, of which there
// are `count`, does not exceed. 0: the smallest sample.
[[nodiscard]] std::uint64_t percentile(const Histogram& histogram, std::uint64_t count,
                                       double percentage);

}  // namespace gpufilter
