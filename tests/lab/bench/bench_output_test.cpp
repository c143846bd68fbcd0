// The table and the chart of "gpufilter bench" from constructed reports.
#include "lab/bench/bench_output.hpp"

#include <gtest/gtest.h>

#include "support/document_checks.hpp"

namespace gpufilter::lab {
namespace {

using test::count_of;

constexpr const char* date = "2026-01-31T12:00:00Z";

Report copies() {
  Report report;
  report.bench = "copy";
  report.processor = "EPYC 9474F, 2 threads, avx512";
  report.columns = {{"mb", "MB", 4}, {"copy", "copy"}, {"where", ""}, {"rate", "GB/s", 3}};
  for (const double mb : {1.048576, 67.108864}) {
    report.rows.push_back(
        {{"mb", mb}, {"copy", "one core"}, {"where", lab::on_processor}, {"rate", 1.5 * mb}});
  }
  report.chart = lab::ChartOfBars{
      .title = "Copies", .value = "rate", .value_label = "GB/s", .labels = {"mb", "copy"}};
  return report;
}

TEST(BenchTable, HeadingsAreAboveTheirColumns) {
  const std::string text = bench_text(copies(), date);
  EXPECT_EQ(text.substr(text.find("\n\n")),
            "\n\n"
            "   MB  copy      GB/s\n"
            "1.049  one core  1.57\n"
            "67.11  one core   101\n");
}

TEST(BenchTable, AFirstColumnOfTextIsAlignedToo) {
  Report report = copies();
  report.columns = {{"copy", "copy"}, {"rate", "GB/s", 3}};
  const std::string text = bench_text(report, date);
  EXPECT_EQ(text.substr(text.find("\n\n")),
            "\n\n"
            "copy      GB/s\n"
            "one core  1.57\n"
            "one core   101\n");
}

TEST(BenchChart, BarsOfDifferentSizesHaveDifferentLabels) {
  const std::string svg = bench_chart(copies(), date);
  EXPECT_EQ(test::objection_to_svg(svg), "");
  EXPECT_EQ(count_of(svg, ">1.049 MB, one core<"), 1U) << svg;
  EXPECT_EQ(count_of(svg, ">67.11 MB, one core<"), 1U);
}

TEST(BenchChart, NamesTheProcessorAndTheDevice) {
  Report report = copies();
  const std::string svg = bench_chart(report, date);
  EXPECT_EQ(count_of(svg, ">processor: EPYC 9474F; gpufilter "), 1U);
  EXPECT_EQ(count_of(svg, ", 2026-01-31<"), 1U);
  report.device = "NVIDIA H200";
  EXPECT_EQ(count_of(bench_chart(report, date), ">device: NVIDIA H200; processor: EPYC 9474F; "),
            1U);
}

}  // namespace
}  // namespace gpufilter::lab
