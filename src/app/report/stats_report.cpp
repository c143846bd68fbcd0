#include "app/report/stats_report.hpp"

#include <functional>

#include "app/cli/json_parts.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

std::vector<ChannelStatistics> all_channels(const StatsReport& report) {
  std::vector<ChannelStatistics> channels;
  for (const Histogram& histogram : report.histograms.channels)
    channels.push_back(channel_statistics(histogram));
  return channels;
}

// A hexadecimal number with the digits of a sample: "0x00ff".
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
