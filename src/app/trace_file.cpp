#include "app/trace_file.hpp"

#include <nlohmann/json.hpp>

namespace gpufilter {
namespace {

using Json = nlohmann::ordered_json;

// Microseconds, the unit of the format.
double microseconds(Nanoseconds duration) {
  return static_cast<double>(duration) / 1e3;
}

// The line of a batch that names the pictures stands above those of the activities.
constexpr int picture_lane = -1;

Json lane_name(int process, int lane, const std::string& name) {
  return {{"name", "thread_name"},
          {"ph", "M"},
          {"pid", process},
          {"tid", lane},
          {"args", {{"name", name}}}};
}

Json lane_names(int process) {
  Json events = Json::array();
  for (const Activity lane :
       {Activity::find_devices, Activity::start_device, Activity::build_program, Activity::decode,
        Activity::upload, Activity::launch, Activity::kernel, Activity::download,
        Activity::encode}) {
    events.push_back(lane_name(process, static_cast<int>(lane), activity_name(lane)));
  }
  return events;
}

// `start` is what times count from.
Json event(const RunReport& report, const Span& span, int process, Nanoseconds start) {
  std::string name = activity_name(span.activity);
  if (span.pass >= 0) {
    const PassReport& pass = report.passes.at(static_cast<std::size_t>(span.pass));
    name = pass.stage + " " + pass.variant;
  }
  Json json{{"name", name},
            {"cat", activity_name(span.activity)},
            {"ph", "X"},
            {"pid", process},
            {"tid", static_cast<int>(span.activity)},
            {"ts", microseconds(span.start - start)},
            {"dur", microseconds(span.duration)}};
  if (span.rows > 0) {
    json["args"] = {{"first_row", span.first_row}, {"rows", span.rows}, {"bytes", span.bytes}};
  }
  return json;
}

}  // namespace

std::string trace_json(const RunReport& report) {
  Json events = lane_names(1);
  for (const Span& span : report.spans)
    events.push_back(event(report, span, 1, report.start));
  const Json json{{"displayTimeUnit", "ms"}, {"traceEvents", events}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_trace(const RunReport& report, ByteSink& sink) {
  const std::string text = trace_json(report);
  sink.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  sink.commit();
}

void BatchTrace::add(const RunReport& report, int job) {
  const int process = job + 1;
  Json events = Json::array();
  if (jobs_.insert(job).second) {
    events = lane_names(process);
    events.push_back(lane_name(process, picture_lane, "picture"));
    events.push_back({{"name", "process_name"},
                      {"ph", "M"},
                      {"pid", process},
                      {"args", {{"name", "job " + std::to_string(process)}}}});
  }
  events.push_back({{"name", report.input},
                    {"cat", "picture"},
                    {"ph", "X"},
                    {"pid", process},
                    {"tid", picture_lane},
                    {"ts", microseconds(report.start - start_)},
                    {"dur", microseconds(report.total)}});
  for (const Span& span : report.spans)
    events.push_back(event(report, span, process, start_));
  std::string text;
  for (const Json& json : events) {
    text += begun_ ? ",\n" : "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
    text += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    begun_ = true;
  }
  write(text);
}

void BatchTrace::finish() {
  write(begun_ ? "\n]}\n" : "{\"displayTimeUnit\": \"ms\", \"traceEvents\": []}\n");
  sink_.commit();
}

void BatchTrace::write(const std::string& text) {
  sink_.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace gpufilter
