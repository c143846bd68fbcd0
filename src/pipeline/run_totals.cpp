#include "pipeline/run_totals.hpp"

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
  // Activity's constants stand in the order of a picture's way, which is the map's order too.
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

}  // namespace gpufilter
