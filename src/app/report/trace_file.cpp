#include "app/report/trace_file.hpp"

#include <algorithm>

#include "base/byte_cursor.hpp"
#include "base/format.hpp"
#include "base/json.hpp"

namespace gpufilter {
namespace {

// Microseconds, the unit of the format.
double microseconds(Nanoseconds duration) {
  return static_cast<double>(duration) / 1e3;
}

// Kinds of tracks: the pictures of a job are above its activities.
constexpr int picture_kind = 0;
int kind_of(Activity activity) {
  return static_cast<int>(activity) + 1;
}

Json about_process(int process, const char* field, const Json& arguments) {
  return {{"name", field}, {"ph", "M"}, {"pid", process}, {"tid", 0}, {"args", arguments}};
}

// The events of a trace, in the order in which they are written.
class Events {
 public:
  // Times are relative to `start`.
  Events(TraceTracks& tracks, Nanoseconds start) : tracks_(tracks), start_(start) {}

  void add_process(int process, const std::string& name) {
    events_.push_back(about_process(process, "process_name", {{"name", name}}));
  }

  void add_picture(const RunReport& report, int process) {
    events_.push_back(event(report.input, {process, picture_kind, "picture"}, report.start,
                            report.start + report.total));
  }

  void add_spans(const RunReport& report, int process) {
    std::vector<Span> spans = report.spans;
    std::stable_sort(spans.begin(), spans.end(),
                     [](const Span& a, const Span& b) { return a.start < b.start; });
    for (const Span& span : spans) {
      const std::string kind = activity_name(span.activity);
      Json json = event(name_of(report, span), {process, kind_of(span.activity), kind}, span.start,
                        span.start + span.duration);
      if (span.rows > 0) {
        json["args"] = {{"first_row", span.first_row}, {"rows", span.rows}, {"bytes", span.bytes}};
      }
      events_.push_back(std::move(json));
    }
  }

  [[nodiscard]] const std::vector<Json>& list() const { return events_; }

 private:
  static std::string name_of(const RunReport& report, const Span& span) {
    if (span.pass < 0) return activity_name(span.activity);
    const PassReport& pass = report.passes.at(static_cast<std::size_t>(span.pass));
    return pass.stage + " " + pass.variant;
  }

  // The category of an event.
  struct Category {
    int process;
    int kind;  // of its tracks
    std::string name;
  };

  Json event(const std::string& name, const Category& category, Nanoseconds begin,
             Nanoseconds end) {
    const auto& [process, kind, kind_name] = category;
    const TraceTracks::Track track = tracks_.place(process, kind, begin, end);
    if (track.is_new) name_track(process, track, kind_name);
    return {{"name", name},
            {"cat", kind_name},
            {"ph", "X"},
            {"pid", process},
            {"tid", track.id},
            {"ts", microseconds(begin - start_)},
            {"dur", microseconds(end - begin)}};
  }

  void name_track(int process, const TraceTracks::Track& track, const std::string& kind) {
    const std::string name = track.number == 0 ? kind : formatted("{} {}", kind, track.number + 1);
    for (const auto& [field, arguments] :
         {std::pair<const char*, Json>{"thread_name", {{"name", name}}},
          std::pair<const char*, Json>{"thread_sort_index", {{"sort_index", track.id}}}}) {
      Json json = about_process(process, field, arguments);
      json["tid"] = track.id;
      events_.push_back(std::move(json));
    }
  }

  TraceTracks& tracks_;
  Nanoseconds start_;
  std::vector<Json> events_;
};

// The part before the events.
std::string beginning(const std::string& command_line) {
  const Json about{{"program", "gpufilter " GPUFILTER_VERSION}, {"command_line", command_line}};
  return formatted("{{\"displayTimeUnit\": \"ms\", \"otherData\": {}, \"traceEvents\": [\n",
                   about.on_one_line());
}

constexpr const char* ending = "\n]}\n";

std::string joined(const std::vector<Json>& events) {
  std::string text;
  for (const Json& event : events)
    text += (text.empty() ? "" : ",\n") + event.on_one_line();
  return text;
}

void write_text(ByteSink& sink, const std::string& text) {
  sink.write(as_bytes(text));
}

}  // namespace

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

TraceFile::TraceFile(ByteSink& sink, Nanoseconds start, const std::string& command_line,
                     bool is_folder)
    : sink_(sink), start_(start), is_folder_(is_folder), before_(beginning(command_line)) {}

void TraceFile::add(const RunReport& report, int job) {
  const int process = job + 1;
  Events events(tracks_, start_);
  if (jobs_.insert(job).second)
    events.add_process(process, is_folder_ ? formatted("job {}", process) : "gpufilter");
  if (is_folder_) events.add_picture(report, process);
  events.add_spans(report, process);
  write_text(sink_, std::exchange(before_, ",\n") + joined(events.list()));
}

void TraceFile::finish() {
  write_text(sink_, (jobs_.empty() ? before_ : "") + ending);
  sink_.commit();
}

}  // namespace gpufilter
