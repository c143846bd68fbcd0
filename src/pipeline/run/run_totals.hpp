// Sums for reports: the kinds of work in a run, and how long each took.
#pragma once

#include <string>
#include <vector>

#include "pipeline/run/run.hpp"

namespace gpufilter {

// 0 if the time is 0, here and below.
[[nodiscard]] inline double megapixels_per_second(std::uint64_t pixels, Nanoseconds duration) {
  return duration == 0 ? 0 : static_cast<double>(pixels) * 1e3 / static_cast<double>(duration);
}

[[nodiscard]] inline double gigabytes_per_second(std::uint64_t bytes, Nanoseconds duration) {
  return duration == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(duration);
}

// One line of a report: everything of one kind, over all bands of a picture or of several.
struct ActivityTotal {
  Activity activity = Activity::decode;
  int walk = 0;              // how many times the picture was walked through before
  int pass = -1;             // index of the report's pass, for kernels and programs
  std::string stage = {};    // of that pass
  std::string variant = {};  // of that pass; "various" if it is not the same for all pictures
  Nanoseconds duration = 0;
  std::uint64_t bytes = 0;
  std::uint64_t pixels = 0;  // of the pictures that had this activity
  std::uint64_t commands = 0;

  [[nodiscard]] double megapixels_per_second() const {
    return gpufilter::megapixels_per_second(pixels, duration);
  }
  [[nodiscard]] double gigabytes_per_second() const {
    return gpufilter::gigabytes_per_second(bytes, duration);
  }
};

// Walk by walk, in processing order: finding and starting the device, building programs, decode,
// upload, launch, each stage's kernel, download, encode. Activities that did not occur are left
// out.
[[nodiscard]] std::vector<ActivityTotal> activity_totals(const RunReport& report);

// The part of report.total that no span covers: time that no line of the report accounts for. Spans
// overlap, so the lines need not add up to the total.
[[nodiscard]] Nanoseconds unaccounted_time(const RunReport& report);

}  // namespace gpufilter
