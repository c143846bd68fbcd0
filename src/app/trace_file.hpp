// Every span of a run in Chrome's trace format, for chrome://tracing or Perfetto.
#pragma once

#include <set>
#include <string>

#include "codec/byte_sink.hpp"
#include "pipeline/run.hpp"

namespace gpufilter {

// The JSON text. Host work and device work have a line each per kind of activity.
[[nodiscard]] std::string trace_json(const RunReport& report);

// Writes and commits it. Throws PictureError.
void write_trace(const RunReport& report, ByteSink& sink);

// The same for many pictures, written as they come: a group of lines for each job, and in it one
// more line that names the pictures.
class BatchTrace {
 public:
  // `sink` outlives it; times count from `start`. Throws PictureError, as all of this does.
  BatchTrace(ByteSink& sink, Nanoseconds start) : sink_(sink), start_(start) {}

  void add(const RunReport& report, int job);
  // Completes and commits the file.
  void finish();

 private:
  void write(const std::string& text);

  ByteSink& sink_;
  Nanoseconds start_;
  std::set<int> jobs_;  // that have their names
  bool begun_ = false;
};

}  // namespace gpufilter
