#include "support/trace_checks.hpp"

#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace gpufilter::test {
namespace {

using Json = nlohmann::json;
using TrackId = std::pair<int, int>;  // process, thread

struct Times {
  long long begin;  // nanoseconds
  long long end;
};

bool are_disjoint_or_nested(const Times& a, const Times& b) {
  const bool disjoint = a.end <= b.begin || b.end <= a.begin;
  const bool nested =
      (a.begin <= b.begin && b.end <= a.end) || (b.begin <= a.begin && a.end <= b.end);
  return disjoint || nested;
}

std::string fault_of_tracks(const std::map<TrackId, std::vector<Times>>& tracks,
                            const std::map<TrackId, std::string>& names,
                            const std::set<int>& processes) {
  for (const auto& [track, events] : tracks) {
    const std::string place =
        "process " + std::to_string(track.first) + ", track " + std::to_string(track.second);
    if (!processes.contains(track.first)) return place + ": the process has no name";
    if (!names.contains(track)) return place + ": has no name";
    for (std::size_t i = 0; i < events.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (!are_disjoint_or_nested(events[i], events[k])) return place + ": events overlap";
      }
    }
  }
  return "";
}

}  // namespace

std::string fault_of_trace(const Json& trace) {
  std::map<TrackId, std::vector<Times>> tracks;
  std::map<TrackId, std::string> names;
  std::set<std::pair<int, std::string>> taken;
  std::set<int> processes;
  for (const Json& event : trace.at("traceEvents")) {
    const TrackId track{event.at("pid").get<int>(), event.at("tid").get<int>()};
    const std::string name = event.at("name");
    if (event.at("ph") == "X") {
      const auto begin = std::llround(event.at("ts").get<double>() * 1e3);
      tracks[track].push_back({begin, begin + std::llround(event.at("dur").get<double>() * 1e3)});
    } else if (name == "process_name") {
      processes.insert(track.first);
    } else if (name == "thread_name") {
      names[track] = event.at("args").at("name");
      if (!taken.emplace(track.first, names[track]).second)
        return names[track] + ": two tracks have this name";
    }
  }
  return fault_of_tracks(tracks, names, processes);
}

}  // namespace gpufilter::test
