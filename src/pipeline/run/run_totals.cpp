#include "pipeline/run/run_totals.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gpufilter {

double ActivityTotal::megapixels_per_second(ImageSize size) const {
  return duration == 0 ? 0
                       : static_cast<double>(size.pixels()) * 1e3 / static_cast<double>(duration);
}

double ActivityTotal::gigabytes_per_second() const {
  return duration == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(duration);
}

std::vector<ActivityTotal> activity_totals(const RunReport& report) {
  // The constants of Activity are in processing order, and so is the map.
  std::map<std::tuple<int, Activity, int>, ActivityTotal> totals;
  for (const Span& span : report.spans) {
    ActivityTotal& total = totals[{span.walk, span.activity, span.pass}];
    total.walk = span.walk;
    total.activity = span.activity;
    total.pass = span.pass;
    total.duration += span.duration;
    total.bytes += span.bytes;
    ++total.commands;
  }
  std::vector<ActivityTotal> lines;
  lines.reserve(totals.size());
  for (const auto& [key, total] : totals)
    lines.push_back(total);
  return lines;
}

Nanoseconds unaccounted_time(const RunReport& report) {
  std::vector<Span> spans = report.spans;
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start < b.start; });
  const Nanoseconds end = report.start + report.total;
  Nanoseconds covered_until = report.start;
  Nanoseconds gaps = 0;
  for (const Span& span : spans) {
    gaps += std::max<Nanoseconds>(std::min(span.start, end) - covered_until, 0);
    covered_until = std::max(covered_until, span.start + span.duration);
  }
  return gaps + std::max<Nanoseconds>(end - covered_until, 0);
}

}  // namespace gpufilter
