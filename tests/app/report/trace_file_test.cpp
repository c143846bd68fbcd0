#include "app/report/trace_file.hpp"

#include <nlohmann/json.hpp>

#include "app/cli/command_words.hpp"
#include "app/report/example_report.hpp"
#include "app/report/stats_report.hpp"
#include "support/document_checks.hpp"

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

// Many bands at the same time: spans at random times.
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
  const std::vector<json> events = spans_of(json::parse(trace_json(report, "gpufilter")));
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
  for (unsigned seed = 0; seed < 20; ++seed) {
    const json trace = json::parse(trace_json(busy_report(seed), "gpufilter"));
    EXPECT_EQ(test::fault_of_trace(trace), "");
    EXPECT_EQ(spans_of(trace).size(), 300U);
    EXPECT_TRUE(tracks_of(trace).contains("kernel 2"));
  }
}

TEST(TraceFile, OpensNoMoreTracksThanSpansOverlapAndNamesTheProgram) {
  RunReport report = test::example_report();
  report.spans = {{.activity = Activity::encode, .start = 200, .duration = 100},
                  {.activity = Activity::encode, .start = 0, .duration = 100},
                  {.activity = Activity::encode, .start = 100, .duration = 100},
                  {.activity = Activity::encode, .start = 150, .duration = 50},
                  {.activity = Activity::encode, .start = 200, .duration = 1}};
  const auto tracks = tracks_of(json::parse(trace_json(report, "gpufilter")));
  EXPECT_EQ(tracks.size(), 2U);
  EXPECT_LT(tracks.at("encode"), tracks.at("encode 2"));
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
  EXPECT_EQ(json::parse(std::string(bytes.begin(), bytes.end()))["traceEvents"], json::array());
}

TEST(CommandLineText, IsWhatAShellTakes) {
  const std::array<const char*, 6> words{"gpufilter", "a b.png", "", "it's", "--color=sepia", "*"};
  EXPECT_EQ(command_line_text(6, words.data()),
            "gpufilter 'a b.png' '' 'it'\\''s' --color=sepia '*'");
}

// The numbers of "gpufilter stats" from constructed histograms.

ChannelStatistics of(const std::vector<std::pair<std::size_t, std::uint64_t>>& counts,
                     std::size_t levels = 256) {
  Histogram histogram(levels, 0);
  for (const auto& [value, count] : counts)
    histogram.at(value) = count;
  return channel_statistics(histogram);
}

TEST(ChannelStatistics, OfAFewSamples) {
  const ChannelStatistics one = of({{77, 1}});
  EXPECT_EQ(one.count, 1U);
  EXPECT_EQ(one.totals.minimum, 77U);
  EXPECT_EQ(one.totals.maximum, 77U);
  EXPECT_EQ(one.mean, 77);
  EXPECT_EQ(one.deviation, 0);
  for (const std::uint64_t percentile : one.percentiles)
    EXPECT_EQ(percentile, 77U);
  const ChannelStatistics statistics = of({{10, 50}, {200, 50}});
  EXPECT_EQ(statistics.percentiles[3], 10U) << "half of the samples do not exceed 10";
  EXPECT_EQ(statistics.percentiles[4], 200U);
  EXPECT_EQ(of({{10, 49}, {200, 51}}).percentiles[3], 200U);
  const ChannelStatistics known = of({{2, 1}, {4, 3}, {5, 2}, {7, 1}, {9, 1}});
  EXPECT_EQ(known.mean, 5);
  EXPECT_EQ(known.deviation, 2);
}

// Ranks by the definition: the n-th of the sorted samples, n = ceil(count * percentage / 100).
TEST(ChannelStatistics, PercentilesAreNearestRank) {
  for (const std::uint64_t count : {2, 3, 4, 5, 19, 20, 21, 99, 100, 101, 199, 200, 201}) {
    Histogram histogram(256, 0);
    for (std::uint64_t i = 0; i < count; ++i)
      ++histogram[i];  // sample number n has the value n - 1
    const ChannelStatistics statistics = channel_statistics(histogram);
    for (std::size_t i = 0; i < percentages.size(); ++i) {
      const auto hundredths = count * static_cast<std::uint64_t>(percentages[i]);
      const std::uint64_t rank = hundredths / 100 + (hundredths % 100 == 0 ? 0 : 1);
      EXPECT_EQ(statistics.percentiles[i], rank - 1) << percentages[i] << " % of " << count;
    }
  }
}

// Samples that differ by one at the top of the range, more of them than a double can count.
TEST(ChannelStatistics, StayExactForManyLargeSamples) {
  const std::uint64_t half = UINT64_C(1) << 30U;
  const ChannelStatistics statistics = of({{65534, half}, {65535, half}}, 65536);
  EXPECT_EQ(statistics.count, 2 * half);
  EXPECT_EQ(statistics.mean, 65534.5);
  EXPECT_EQ(statistics.deviation, 0.5);
  EXPECT_EQ(statistics.percentiles[3], 65534U);
  EXPECT_EQ(statistics.percentiles[4], 65535U);
}

TEST(StatsReport, IsATableOfExactNumbers) {
  StatsReport report;
  report.name = "a.png";
  report.size = {2, 1};
  report.format = {2, 16};
  Histogram grey(65536, 0);
  grey[1] = 1;
  grey[258] = 1;
  Histogram alpha(65536, 0);
  alpha[65535] = 2;
  report.histograms = {{grey, alpha}};
  report.engine.device = "Chip";
  report.engine.reason = "the first GPU";
  report.gathering.variant = "channel histograms";
  EXPECT_EQ(text_report(report),
            "a.png: 2x1, grey+alpha, 16-bit\n"
            "                        grey        alpha\n"
            "count                      2            2\n"
            "minimum                    1        65535\n"
            "maximum                  258        65535\n"
            "mean                129.5000   65535.0000\n"
            "deviation           128.5000       0.0000\n"
            "percentile 1               1        65535\n"
            "percentile 5               1        65535\n"
            "percentile 25              1        65535\n"
            "percentile 50              1        65535\n"
            "percentile 75            258        65535\n"
            "percentile 95            258        65535\n"
            "percentile 99            258        65535\n"
            "and                   0x0000       0xffff\n"
            "or                    0x0103       0xffff\n"
            "xor                   0x0103       0x0000\n"
            "counted on Chip (the first GPU): channel histograms\n");
}

}  // namespace
}  // namespace gpufilter
