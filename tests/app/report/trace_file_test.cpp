#include "app/report/trace_file.hpp"

#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/cli/command_words.hpp"
#include "app/report/example_report.hpp"
#include "base/format.hpp"
#include "support/trace_checks.hpp"

namespace gpufilter {
namespace {

using nlohmann::json;

std::string trace_json(const RunReport& report, const std::string& command_line) {
  std::vector<std::uint8_t> bytes;
  const auto sink = memory_sink(bytes, "trace.json");
  TraceFile trace(*sink, report.start, command_line, false);
  trace.add(report, 0);
  trace.finish();
  return {bytes.begin(), bytes.end()};
}

std::vector<json> spans_of(const json& trace) {
  std::vector<json> events;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") events.push_back(event);
  }
  return events;
}

std::map<std::string, int> tracks_of(const json& trace) {
  std::map<std::string, int> tracks;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name")
      tracks[event["args"]["name"].get<std::string>()] = event["tid"].get<int>();
  }
  return tracks;
}

// Many bands at the same time: spans at random places.
RunReport busy_report(unsigned seed) {
  RunReport report = test::example_report();
  report.spans.clear();
  std::mt19937 random(seed);
  const auto below = [&random](unsigned limit) { return static_cast<int>(random() % limit); };
  constexpr std::array kinds{Activity::decode, Activity::kernel, Activity::encode};
  for (int i = 0; i < 300; ++i) {
    const Activity activity = kinds.at(static_cast<std::size_t>(below(3)));
    report.spans.push_back({.activity = activity,
                            .pass = activity == Activity::kernel ? below(2) : -1,
                            .start = report.start + below(1'000),
                            .duration = below(100)});
  }
  return report;
}

TEST(TraceFile, HasAnEventForEverySpan) {
  const RunReport report = test::example_report();
  const json trace = json::parse(trace_json(report, "gpufilter"));
  const std::vector<json> events = spans_of(trace);
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

TEST(TraceFile, NamesATrackForEveryKind) {
  const json trace = json::parse(trace_json(test::example_report(), "gpufilter"));
  EXPECT_EQ(test::fault_of_trace(trace), "");
  const auto tracks = tracks_of(trace);
  for (const json& event : spans_of(trace))
    EXPECT_EQ(event["tid"], tracks.at(event["cat"].get<std::string>()));
}

TEST(TraceFile, GivesOverlappingSpansTracksOfTheirOwn) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const json trace = json::parse(trace_json(busy_report(seed), "gpufilter"));
    EXPECT_EQ(test::fault_of_trace(trace), "");
    EXPECT_EQ(spans_of(trace).size(), 300U);
    EXPECT_TRUE(tracks_of(trace).contains("kernel 2"));
  }
}

TEST(TraceFile, OpensNoMoreTracksThanSpansOverlap) {
  RunReport report = test::example_report();
  report.spans = {{.activity = Activity::encode, .start = 200, .duration = 100},
                  {.activity = Activity::encode, .start = 0, .duration = 100},
                  {.activity = Activity::encode, .start = 100, .duration = 100},
                  {.activity = Activity::encode, .start = 150, .duration = 50},
                  {.activity = Activity::encode, .start = 200, .duration = 1}};
  const auto tracks = tracks_of(json::parse(trace_json(report, "gpufilter")));
  EXPECT_EQ(tracks.size(), 2U);
  EXPECT_LT(tracks.at("encode"), tracks.at("encode 2"));
}

TEST(TraceFile, NamesTheProgramAndItsCommandLine) {
  const json trace = json::parse(trace_json({}, "gpufilter 'a \xff.png' out.png"));
  EXPECT_TRUE(trace["otherData"]["program"].get<std::string>().starts_with("gpufilter "));
  EXPECT_EQ(trace["otherData"]["command_line"], "gpufilter 'a \uFFFD.png' out.png");
  EXPECT_TRUE(trace["traceEvents"].is_array());
}

TEST(TraceOfAFolder, HasAProcessForEachJob) {
  std::vector<std::uint8_t> bytes;
  const auto sink = memory_sink(bytes, "trace.json");
  TraceFile batch(*sink, 0, "gpufilter in out", true);
  constexpr int pictures = 6;
  for (int i = 0; i < pictures; ++i) {
    RunReport report = busy_report(static_cast<unsigned>(i));
    report.input = formatted("p{}", i);
    report.total = 2'000;
    for (Span& span : report.spans)
      span.start += i / 2 * 2'000;
    report.start += i / 2 * 2'000;
    // The start of a device may be reported by a picture that came later.
    report.spans.push_back({.activity = Activity::start_device, .start = i, .duration = 500});
    batch.add(report, i % 2);
  }
  batch.finish();
  const json trace = json::parse(std::string(bytes.begin(), bytes.end()));
  EXPECT_EQ(test::fault_of_trace(trace), "");
  EXPECT_EQ(spans_of(trace).size(), pictures * 302U);
  EXPECT_EQ(trace["otherData"]["command_line"], "gpufilter in out");
}

TEST(TraceOfAFolder, OfNothingIsATrace) {
  std::vector<std::uint8_t> bytes;
  const auto sink = memory_sink(bytes, "trace.json");
  TraceFile batch(*sink, 0, "gpufilter in out", true);
  batch.finish();
  const json trace = json::parse(std::string(bytes.begin(), bytes.end()));
  EXPECT_EQ(trace["traceEvents"], json::array());
}

TEST(CommandLineText, IsWhatAShellTakes) {
  const std::array<const char*, 6> words{"gpufilter", "a b.png", "", "it's", "--color=sepia", "*"};
  EXPECT_EQ(command_line_text(6, words.data()),
            "gpufilter 'a b.png' '' 'it'\\''s' --color=sepia '*'");
}

}  // namespace
}  // namespace gpufilter
