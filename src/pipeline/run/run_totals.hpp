// The sums for a timing report.
#pragma once

#include <vector>

#include "pipeline/run/run.hpp"

namespace gpufilter {

// One line of the report: everything of one kind, over all bands.
struct ActivityTotal {
  Activity activity = Activity::decode;
  int pass = -1;  // index of the report's pass, for kernels and programs
  int walk = 0;   // how many times the picture was walked through before
  Nanoseconds duration = 0;
  std::uint64_t bytes = 0;
  int commands = 0;

  // From the picture's pixels and the time spent; 0 if the time is 0.
  [[nodiscard]] double megapixels_per_second(ImageSize size) const;
  [[nodiscard]] double gigabytes_per_second() const;
};

// Walk by walk, in processing order: finding and starting the device, building programs, decode,
// upload, launch, each stage's kernel, download, encode. Activities that did not occur are left
// out.
[[nodiscard]] std::vector<ActivityTotal> activity_totals(const RunReport& report);

// The part of report.total that no span covers: time that no line of the report accounts for. Spans
// overlap, so the lines need not add up to the total.
[[nodiscard]] Nanoseconds unaccounted_time(const RunReport& report);

}  // namespace gpufilter
