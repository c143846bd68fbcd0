#include "compute/channel_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpufilter {
namespace {

__extension__ using Wide = unsigned __int128;

double deviation(const ChannelTotals& totals, std::uint64_t count) {
  // count * sum of squares - sum^2 is exact, so no precision is lost by cancellation.
  const Wide spread = Wide{count} * totals.sum_of_squares - Wide{totals.sum} * totals.sum;
  return std::sqrt(static_cast<double>(spread)) / static_cast<double>(count);
}

}  // namespace

std::uint64_t percentile(const Histogram& histogram, std::uint64_t count, double percentage) {
  const long double exact = static_cast<long double>(count) * percentage / 100;
  const auto rank = std::max(static_cast<std::uint64_t>(std::ceil(exact)), std::uint64_t{1});
  std::uint64_t counted = 0;
  std::uint64_t value = 0;
  while ((counted += histogram[value]) < rank)
    ++value;
  return value;
}

ChannelStatistics channel_statistics(const Histogram& histogram) {
  ChannelStatistics channel;
  channel.count = std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0});
  channel.totals = totals_of(histogram);
  channel.mean = static_cast<double>(channel.totals.sum) / static_cast<double>(channel.count);
  channel.deviation = deviation(channel.totals, channel.count);
  for (std::size_t i = 0; i < percentages.size(); ++i)
    channel.percentiles[i] = percentile(histogram, channel.count, percentages[i]);
  return channel;
}

}  // namespace gpufilter
