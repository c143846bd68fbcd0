#include "app/trace_file.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/example_report.hpp"

namespace gpufilter {
namespace {

using nlohmann::json;

TEST(TraceFile, HasAnEventForEverySpan) {
  const RunReport report = test::example_report();
  const json trace = json::parse(trace_json(report));
  std::vector<json> events;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") events.push_back(event);
  }
  ASSERT_EQ(events.size(), report.spans.size());
  EXPECT_EQ(events[0]["name"].get<std::string>(), "decode");
  EXPECT_EQ(events[0]["ts"], 0.0) << "microseconds since the start of the run";
  EXPECT_EQ(events[0]["dur"], 500.0);
  EXPECT_FALSE(events[0].contains("args"));
  const json& kernel = events[6];
  EXPECT_EQ(kernel["name"].get<std::string>(), "blur tiled 16x16");
  EXPECT_EQ(kernel["cat"].get<std::string>(), "kernel");
  EXPECT_EQ(kernel["ts"], 37'000.0);
  EXPECT_EQ(kernel["dur"], 2000.0);
  EXPECT_EQ(kernel["args"]["first_row"], 0);
  EXPECT_EQ(kernel["args"]["rows"], 250);
  EXPECT_EQ(kernel["args"]["bytes"], 4'000'000);
}

TEST(TraceFile, NamesALaneForEveryKind) {
  const json trace = json::parse(trace_json(test::example_report()));
  std::map<int, std::string> lanes;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "M") continue;
    EXPECT_EQ(event["name"].get<std::string>(), "thread_name");
    lanes[event["tid"].get<int>()] = event["args"]["name"].get<std::string>();
  }
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      EXPECT_EQ(lanes[event["tid"].get<int>()], event["cat"].get<std::string>());
    }
  }
}

TEST(TraceFile, OfNothingIsATrace) {
  EXPECT_TRUE(json::parse(trace_json({}))["traceEvents"].is_array());
}

TEST(TraceFile, IsWrittenAndCommitted) {
  std::vector<std::uint8_t> bytes;
  const auto sink = memory_sink(bytes, "trace.json");
  const RunReport report = test::example_report();
  write_trace(report, *sink);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), trace_json(report));
}

}  // namespace
}  // namespace gpufilter
