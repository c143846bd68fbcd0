#include "app/trace_tracks.hpp"

#include <algorithm>

namespace gpufilter {

TraceTracks::Track TraceTracks::place(int process, int kind, Nanoseconds start, Nanoseconds end) {
  constexpr int kind_step = 10'000;  // more than the tracks of any kind
  std::vector<Nanoseconds>& tracks = busy_until_[{process, kind}];
  const auto free = std::find_if(tracks.begin(), tracks.end(),
                                 [start](Nanoseconds busy) { return busy <= start; });
  const auto number = static_cast<int>(free - tracks.begin());
  const bool is_new = free == tracks.end();
  if (is_new) {
    tracks.push_back(end);
  } else {
    *free = end;
  }
  return {kind_step * (kind + 1) + number, number, is_new};
}

}  // namespace gpufilter
