// Which line of a trace a span is drawn on.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "base/timeline.hpp"

namespace gpufilter {

// The tracks of a trace. Overlapping spans are never on one track: each kind of work gets as many
// tracks as it needs. Memory grows with the tracks, not with the spans.
class TraceTracks {
 public:
  struct Track {
    int id = 0;      // unique within its process; in the order of kinds
    int number = 0;  // among those of its kind, from 0 on
    bool is_new = false;
  };

  // The track of `process` for a span of `kind`. The number of tracks is minimal if spans are added
  // in the order of their start.
  [[nodiscard]] Track place(int process, int kind, Nanoseconds start, Nanoseconds end);

 private:
  std::map<std::pair<int, int>, std::vector<Nanoseconds>> busy_until_;  // by process and kind
};

}  // namespace gpufilter
