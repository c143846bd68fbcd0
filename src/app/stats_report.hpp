// The output of "gpufilter stats" for a picture, for people and for programs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "codec/codec_table.hpp"
#include "compute/picture_statistics.hpp"
#include "pipeline/band_executor.hpp"
#include "pipeline/engine.hpp"

namespace gpufilter {

struct StatsReport {
  std::string name;  // the picture's name in messages
  const Codec* file_format = nullptr;
  ImageSize size;
  PixelFormat format;
  Histograms histograms;
  EngineReport engine;
  PassReport gathering;
};

inline constexpr std::array percentages{1, 5, 25, 50, 75, 95, 99};

// One channel, from its histogram: whole numbers are exact, others are rounded once.
struct ChannelStatistics {
  std::uint64_t count = 0;
  ChannelTotals totals;
  double mean = 0;
  double deviation = 0;  // standard deviation of the whole population: the divisor is the count
  // By nearest rank: the smallest value that at least this percentage of the samples does not
  // exceed.
  std::array<std::uint64_t, percentages.size()> percentiles{};
};
// `histogram` counts at least one sample.
[[nodiscard]] ChannelStatistics channel_statistics(const Histogram& histogram);

// A table with a column for each channel, and a line that says how it was made.
[[nodiscard]] std::string text_report(const StatsReport& report);

// One JSON object, "gpufilter-stats-1", on one line.
[[nodiscard]] std::string json_report(const StatsReport& report);

}  // namespace gpufilter
