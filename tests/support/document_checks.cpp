#include "support/document_checks.hpp"

#include "support/process.hpp"

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

bool has_schema_validator() {
  try {
    return run_process({"python3", "-c", "from jsonschema import Draft202012Validator"})
               .exit_code == 0;
  } catch (const std::system_error&) {
    return false;
  }
}

std::vector<bool> accepted_by_schema(const std::string& name,
                                     const std::vector<std::string>& texts) {
  const TemporaryFolder folder;
  std::vector<std::string> command{"python3", GPUFILTER_SOURCE "/tests/docs/check_schema.py",
                                   GPUFILTER_SOURCE "/docs/" + name};
  for (const std::string& text : texts) {
    command.push_back(folder / (std::to_string(command.size()) + ".json"));
    write_file(command.back(), text);
  }
  const ProcessResult result = run_process(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<bool> accepted;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);)
    accepted.push_back(line == "valid");
  return accepted;
}

std::string objection_to_svg(std::string_view svg) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < svg.size(); ++i) {
    if (svg[i] == '&' && svg.find(';', i) > i + 6) return "a bare & at " + std::to_string(i);
    if (svg[i] != '<') continue;
    const std::size_t end = svg.find('>', i);
    if (end == std::string_view::npos) return "a tag does not end";
    const std::string_view tag = svg.substr(i + 1, end - i - 1);
    if (tag.find('<') != std::string_view::npos) return "a bare <";
    const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
    if (tag.front() == '/') {
      if (open.empty() || "/" + open.back() != tag) return "</...> without its beginning";
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    i = end;
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

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
