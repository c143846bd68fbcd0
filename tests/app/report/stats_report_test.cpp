// The numbers of "gpufilter stats" from constructed histograms.
#include "app/report/stats_report.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

ChannelStatistics of(const std::vector<std::pair<std::size_t, std::uint64_t>>& counts,
                     std::size_t levels = 256) {
  Histogram histogram(levels, 0);
  for (const auto& [value, count] : counts)
    histogram.at(value) = count;
  return channel_statistics(histogram);
}

TEST(ChannelStatistics, OfOneSample) {
  const ChannelStatistics one = of({{77, 1}});
  EXPECT_EQ(one.count, 1U);
  EXPECT_EQ(one.totals.minimum, 77U);
  EXPECT_EQ(one.totals.maximum, 77U);
  EXPECT_EQ(one.mean, 77);
  EXPECT_EQ(one.deviation, 0);
  for (const std::uint64_t percentile : one.percentiles)
    EXPECT_EQ(percentile, 77U);
}

// Ranks by the definition: the n-th of the sorted samples, n = ceil(count * percentage / 100).
TEST(ChannelStatistics, PercentilesAreNearestRank) {
  for (const std::uint64_t count : {2, 3, 4, 5, 19, 20, 21, 99, 100, 101, 199, 200, 201}) {
    Histogram histogram(256, 0);
    for (std::uint64_t i = 0; i < count; ++i)
      ++histogram[i];  // sample number n has the value n - 1
    const ChannelStatistics statistics = channel_statistics(histogram);
    for (std::size_t i = 0; i < percentages.size(); ++i) {
      const auto hundredths = count * static_cast<std::uint64_t>(percentages[i]);
      const std::uint64_t rank = hundredths / 100 + (hundredths % 100 == 0 ? 0 : 1);
      EXPECT_EQ(statistics.percentiles[i], rank - 1) << percentages[i] << " % of " << count;
    }
  }
}

TEST(ChannelStatistics, PercentilesSkipEmptyValues) {
  const ChannelStatistics statistics = of({{10, 50}, {200, 50}});
  EXPECT_EQ(statistics.percentiles[3], 10U) << "half of the samples do not exceed 10";
  EXPECT_EQ(statistics.percentiles[4], 200U);
  EXPECT_EQ(of({{10, 49}, {200, 51}}).percentiles[3], 200U);
}

TEST(ChannelStatistics, MeanAndDeviation) {
  const ChannelStatistics known = of({{2, 1}, {4, 3}, {5, 2}, {7, 1}, {9, 1}});
  EXPECT_EQ(known.mean, 5);
  EXPECT_EQ(known.deviation, 2);
}

// Samples that differ by one at the top of the range, more of them than a double can count.
TEST(ChannelStatistics, StayExactForManyLargeSamples) {
  const std::uint64_t half = UINT64_C(1) << 30U;
  const ChannelStatistics statistics = of({{65534, half}, {65535, half}}, 65536);
  EXPECT_EQ(statistics.count, 2 * half);
  EXPECT_EQ(statistics.mean, 65534.5);
  EXPECT_EQ(statistics.deviation, 0.5);
  EXPECT_EQ(statistics.percentiles[3], 65534U);
  EXPECT_EQ(statistics.percentiles[4], 65535U);
}

TEST(StatsReport, IsATableOfExactNumbers) {
  StatsReport report;
  report.name = "a.png";
  report.size = {2, 1};
  report.format = {2, 16};
  Histogram grey(65536, 0);
  grey[1] = 1;
  grey[258] = 1;
  Histogram alpha(65536, 0);
  alpha[65535] = 2;
  report.histograms = {{grey, alpha}};
  report.engine.device = "Chip";
  report.engine.reason = "the first GPU";
  report.gathering.variant = "channel histograms";
  EXPECT_EQ(text_report(report),
            "a.png: 2x1, grey+alpha, 16-bit\n"
            "                        grey        alpha\n"
            "count                      2            2\n"
            "minimum                    1        65535\n"
            "maximum                  258        65535\n"
            "mean                129.5000   65535.0000\n"
            "deviation           128.5000       0.0000\n"
            "percentile 1               1        65535\n"
            "percentile 5               1        65535\n"
            "percentile 25              1        65535\n"
            "percentile 50              1        65535\n"
            "percentile 75            258        65535\n"
            "percentile 95            258        65535\n"
            "percentile 99            258        65535\n"
            "and                   0x0000       0xffff\n"
            "or                    0x0103       0xffff\n"
            "xor                   0x0103       0x0000\n"
            "counted on Chip (the first GPU): channel histograms\n");
}

}  // namespace
}  // namespace gpufilter
