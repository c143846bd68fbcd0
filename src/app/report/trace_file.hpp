// Every span of a run in Chrome's trace format, for chrome://tracing or Perfetto.
// docs/engineering/timing.md describes its contents.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codec/byte_sink.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// The tracks of a trace. Overlapping spans are never on one track: each kind of work gets as many
// tracks as it needs. Memory grows with the tracks, not with the spans.
class TraceTracks {
 public:
  struct Track {
    int id = 0;      // unique within its process; in the order of kinds
    int number = 0;  // among tracks of its kind, from 0 on
    bool is_new = false;
  };

  // The track of `process` for a span of `kind`. The number of tracks is minimal if spans are added
  // in the order of their start.
  [[nodiscard]] Track place(int process, int kind, Nanoseconds start, Nanoseconds end);

 private:
  std::map<std::pair<int, int>, std::vector<Nanoseconds>> busy_until_;  // by process and kind
};

// A trace, written as pictures finish. Each kind of activity has a track, and more where its spans
// overlap. In the trace of a folder every job is a process, with an additional track that names its
// pictures.
class TraceFile {
 public:
  // `sink` has to outlive this object; times are counted from `start`. Throws PictureError, as all
  // methods do.
  TraceFile(ByteSink& sink, Nanoseconds start, const std::string& command_line, bool is_folder);

  void add(const RunReport& report, int job);
  // Completes and commits the file.
  void finish();

 private:
  ByteSink& sink_;
  Nanoseconds start_;
  bool is_folder_;
  TraceTracks tracks_;
  std::set<int> jobs_;  // jobs whose tracks are named
  std::string before_;  // what the next picture's events follow: the beginning, or a comma
};

}  // namespace gpufilter
