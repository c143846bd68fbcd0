#include <algorithm>

#include "base/format.hpp"
#include "chart/svg_chart.hpp"
#include "lab/bench/bench_output.hpp"

namespace gpufilter::lab {
namespace {

std::string text_in(const Row& row, const std::string& key) {
  const auto found = row.find(key);
  if (found == row.end()) return "";
  if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return std::to_string(*whole);
  const auto* text = std::get_if<std::string>(&found->second);
  return text == nullptr ? "" : *text;
}

// The label of a row; numbers that are not whole have their column's heading, which is the unit:
// "1.049 MB".
std::string label_in(const Report& report, const Row& row, const std::string& key) {
  const auto number = row.find(key);
  if (number == row.end() || !std::holds_alternative<double>(number->second))
    return text_in(row, key);
  const auto column = std::find_if(report.columns.begin(), report.columns.end(),
                                   [&key](const auto& each) { return each.key == key; });
  return formatted("{:.4g} {}", std::get<double>(number->second), column->heading);
}

// "device: NVIDIA H200; processor: EPYC 9474F; gpufilter 1.0.0, 2026-01-31".
std::string subtitle_of(const Report& report, const std::string& date) {
  const std::string device = report.device.empty() ? "" : "device: " + report.device + "; ";
  return formatted("{}processor: {}; gpufilter " GPUFILTER_VERSION ", {}", device,
                   report.processor.substr(0, report.processor.find(',')), date.substr(0, 10));
}

std::string draw(const Report& report, const ChartOfLines& chart, const std::string& subtitle) {
  LineChart lines{{chart.title, subtitle, chart.x_label, chart.y_label}, {}};
  if (!report.device.empty()) lines.dashed_label = "dashed: the processor; solid: the device";
  for (const Row& row : report.rows) {
    const auto x = number_in(row, chart.x);
    const auto y = number_in(row, chart.y);
    if (!x || !y || *x <= 0 || *y <= 0) continue;
    const std::string label = text_in(row, "kernel");
    auto line = std::find_if(lines.lines.begin(), lines.lines.end(),
                             [&label](const auto& each) { return each.label == label; });
    if (line == lines.lines.end()) {
      const bool dashed = text_in(row, "where") == lab::on_processor;
      line = lines.lines.insert(line, {label, {}, dashed});
    }
    line->points.push_back({*x, *y});
  }
  for (LineChart::Line& line : lines.lines) {
    std::sort(line.points.begin(), line.points.end(),
              [](const auto& a, const auto& b) { return a.x < b.x; });
  }
  return lab::draw(lines);
}

std::string draw(const Report& report, const ChartOfBars& chart, const std::string& subtitle) {
  BarChart bars;
  bars.titles = {chart.title, subtitle, chart.value_label, ""};
  bars.mark_label = chart.mark_label;
  if (chart.ceiling) bars.ceiling = Ceiling{*chart.ceiling, chart.ceiling_label};
  for (const Row& row : report.rows) {
    const auto value = number_in(row, chart.value);
    if (!value) continue;
    std::string label;
    for (const std::string& key : chart.labels) {
      const std::string part = label_in(report, row, key);
      if (!part.empty()) label += (label.empty() ? "" : ", ") + part;
    }
    const std::string group = text_in(row, "where");
    const auto known = std::find(bars.groups.begin(), bars.groups.end(), group);
    const auto index = static_cast<std::size_t>(known - bars.groups.begin());
    if (known == bars.groups.end()) bars.groups.push_back(group);
    bars.bars.push_back({label, *value, index, number_in(row, chart.mark)});
  }
  return lab::draw(bars);
}

}  // namespace

std::string bench_chart(const Report& report, const std::string& date) {
  const std::string subtitle = subtitle_of(report, date);
  return std::visit([&](const auto& chart) { return draw(report, chart, subtitle); }, report.chart);
}

}  // namespace gpufilter::lab
