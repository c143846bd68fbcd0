#include "pipeline/run/run_totals.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gpufilter {

std::vector<ActivityTotal> activity_totals(const RunReport& report) {
  // The constants of Activity are in processing order, and so is the map.
  std::map<std::tuple<int, Activity, int>, ActivityTotal> totals;
  for (const Span& span : report.spans) {
    ActivityTotal& total = totals[{span.walk, span.activity, span.pass}];
    total.walk = span.walk;
    total.activity = span.activity;
    total.pass = span.pass;
    if (span.pass >= 0 && total.commands == 0) {
      const PassReport& pass = report.passes.at(static_cast<std::size_t>(span.pass));
      total.stage = pass.stage;
      total.variant = pass.variant;
    }
    total.pixels = report.size.pixels();
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
