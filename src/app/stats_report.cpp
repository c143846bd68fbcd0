#include "app/stats_report.hpp"

#include <cmath>
#include <functional>
#include <numeric>

#include "app/device_json.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

__extension__ using Wide = unsigned __int128;

// The smallest value up to which the histogram counts at least `rank` samples.
std::uint64_t value_at_rank(const Histogram& histogram, std::uint64_t rank) {
  std::uint64_t counted = 0;
  std::uint64_t value = 0;
  while ((counted += histogram[value]) < rank)
    ++value;
  return value;
}

// ceil(count * percentage / 100) without the product's overflow.
std::uint64_t rank_of(int percentage, std::uint64_t count) {
  return static_cast<std::uint64_t>((Wide{count} * static_cast<unsigned>(percentage) + 99) / 100);
}

double deviation(const ChannelTotals& totals, std::uint64_t count) {
  // count * sum of squares - sum^2 is exact, so no precision is lost by cancellation.
  const Wide spread = Wide{count} * totals.sum_of_squares - Wide{totals.sum} * totals.sum;
  return std::sqrt(static_cast<double>(spread)) / static_cast<double>(count);
}

std::vector<ChannelStatistics> all_channels(const StatsReport& report) {
  std::vector<ChannelStatistics> channels;
  for (const Histogram& histogram : report.histograms.channels)
    channels.push_back(channel_statistics(histogram));
  return channels;
}

// As wide as the samples: "0x00ff".
std::string bits(std::uint64_t value, const PixelFormat& format) {
  return formatted("0x{:0{}x}", value, format.depth / 4);
}

std::string account(const StatsReport& report) {
  if (report.engine.kind == processor_kind)
    return formatted("counted by the processor ({})", report.gathering.variant);
  return formatted("counted on {} ({}): {}", report.engine.device, report.engine.reason,
                   report.gathering.variant);
}

class Table {
 public:
  explicit Table(std::vector<ChannelStatistics> channels) : channels_(std::move(channels)) {}

  void heading(const std::vector<std::string>& names) {
    text_ += formatted("{:<15}", "");
    for (const std::string& name : names)
      text_ += formatted("{:>13}", name);
    text_ += "\n";
  }
  void line(const std::string& label,
            const std::function<std::string(const ChannelStatistics&)>& value) {
    text_ += formatted("{:<15}", label);
    for (const ChannelStatistics& channel : channels_)
      text_ += formatted("{:>13}", value(channel));
    text_ += "\n";
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::vector<ChannelStatistics> channels_;
  std::string text_;
};

Json json_of_channel(const std::string& name, const Histogram& histogram,
                     const PixelFormat& format) {
  const ChannelStatistics channel = channel_statistics(histogram);
  Json percentiles = Json::object();
  for (std::size_t i = 0; i < percentages.size(); ++i) {
    percentiles[std::to_string(percentages[i])] = channel.percentiles[i];
  }
  const ChannelTotals& totals = channel.totals;
  return {{"name", name},
          {"count", channel.count},
          {"minimum", totals.minimum},
          {"maximum", totals.maximum},
          {"mean", channel.mean},
          {"standard_deviation", channel.deviation},
          {"percentiles", percentiles},
          {"sum", totals.sum},
          {"sum_of_squares", totals.sum_of_squares},
          {"and", bits(totals.bit_and, format)},
          {"or", bits(totals.bit_or, format)},
          {"xor", bits(totals.bit_xor, format)},
          {"histogram", histogram}};
}

}  // namespace

ChannelStatistics channel_statistics(const Histogram& histogram) {
  ChannelStatistics channel;
  channel.count = std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0});
  channel.totals = totals_of(histogram);
  channel.mean = static_cast<double>(channel.totals.sum) / static_cast<double>(channel.count);
  channel.deviation = deviation(channel.totals, channel.count);
  for (std::size_t i = 0; i < percentages.size(); ++i) {
    channel.percentiles[i] = value_at_rank(histogram, rank_of(percentages[i], channel.count));
  }
  return channel;
}

std::string text_report(const StatsReport& report) {
  using Channel = const ChannelStatistics&;
  Table table(all_channels(report));
  table.heading(channel_names(report.format));
  table.line("count", [](Channel c) { return std::to_string(c.count); });
  table.line("minimum", [](Channel c) { return std::to_string(c.totals.minimum); });
  table.line("maximum", [](Channel c) { return std::to_string(c.totals.maximum); });
  table.line("mean", [](Channel c) { return formatted("{:.4f}", c.mean); });
  table.line("deviation", [](Channel c) { return formatted("{:.4f}", c.deviation); });
  for (std::size_t i = 0; i < percentages.size(); ++i) {
    table.line(formatted("percentile {}", percentages[i]),
               [i](Channel c) { return std::to_string(c.percentiles[i]); });
  }
  table.line("and", [&](Channel c) { return bits(c.totals.bit_and, report.format); });
  table.line("or", [&](Channel c) { return bits(c.totals.bit_or, report.format); });
  table.line("xor", [&](Channel c) { return bits(c.totals.bit_xor, report.format); });
  return formatted("{}: {}x{}, {}\n{}{}\n", printable(report.name), report.size.width,
                   report.size.height, to_string(report.format), table.text(), account(report));
}

std::string json_report(const StatsReport& report) {
  Json channels = Json::array();
  const auto names = channel_names(report.format);
  for (std::size_t i = 0; i < names.size(); ++i) {
    channels.push_back(json_of_channel(names[i], report.histograms.channels[i], report.format));
  }
  Json device = device_json(report.engine);
  device["variant"] = report.gathering.variant;
  const Json json{{"schema", "gpufilter-stats-1"},
                  {"name", report.name},
                  {"file_format", report.file_format->name},
                  {"width", report.size.width},
                  {"height", report.size.height},
                  {"depth", report.format.depth},
                  {"pixels", report.size.pixels()},
                  {"device", std::move(device)},
                  {"channels", channels}};
  return json.on_one_line() + "\n";
}

}  // namespace gpufilter
