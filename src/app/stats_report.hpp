// What "gpufilter stats" says about a picture, for people and for programs.
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
  std::string name;  // as messages call the picture
  const Codec* file_format = nullptr;
  ImageSize size;
  PixelFormat format;
  Histograms histograms;
  EngineReport engine;
  PassReport gathering;
};

inline constexpr std::array percentages{1, 5, 25, 50, 75, 95, 99};

// One channel, from its histogram: exact where it is a whole number, and rounded once where not.
struct ChannelStatistics {
  std::uint64_t count = 0;
  ChannelTotals totals;
  double mean = 0;
  double deviation = 0;  // standard deviation of the whole population: the divisor is the count
  // By nearest rank: the least value that at least so many per cent of the samples do not exceed.
  std::array<std::uint64_t, percentages.size()> percentiles{};
};
// `histogram` counts at least one sample.
[[nodiscard]] ChannelStatistics channel_statistics(const Histogram& histogram);

// A table, a column for each channel, and a line on how it was made.
[[nodiscard]] std::string text_report(const StatsReport& report);

// One JSON object, "gpufilter-stats-1", on one line.
[[nodiscard]] std::string json_report(const StatsReport& report);

}  // namespace gpufilter
