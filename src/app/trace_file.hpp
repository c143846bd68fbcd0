// Every span of a run in Chrome's trace format, for chrome://tracing or Perfetto.
// docs/engineering/timing.md describes its contents.
#pragma once

#include <set>
#include <string>

#include "app/trace_tracks.hpp"
#include "codec/byte_sink.hpp"
#include "pipeline/run.hpp"

namespace gpufilter {

// The JSON text. Each kind of activity has a track, and more where its spans overlap.
[[nodiscard]] std::string trace_json(const RunReport& report, const std::string& command_line);

// Writes and commits it. Throws PictureError.
void write_trace(const RunReport& report, const std::string& command_line, ByteSink& sink);

// The same for many pictures, written as they finish: a process for each job, with an additional
// track that names the pictures.
class BatchTrace {
 public:
  // `sink` has to outlive this object; times are counted from `start`. Throws PictureError, as all
  // methods do.
  BatchTrace(ByteSink& sink, Nanoseconds start, const std::string& command_line);

  void add(const RunReport& report, int job);
  // Completes and commits the file.
  void finish();

 private:
  ByteSink& sink_;
  Nanoseconds start_;
  TraceTracks tracks_;
  std::set<int> jobs_;  // jobs whose tracks are named
  bool has_events_ = false;
};

// The words of a command line with shell quoting.
[[nodiscard]] std::string command_line_text(int argc, const char* const* argv);

}  // namespace gpufilter
