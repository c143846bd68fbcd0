#include <gtest/gtest.h>

#include "app/report/example_report.hpp"
#include "app/report/report_text.hpp"
#include "stages/window/blur.hpp"

namespace gpufilter {
namespace {

using Lines = std::vector<std::string>;

TEST(RunAccount, SaysWhatWasUsedAndWhy) {
  RunReport report = test::example_report();
  report.bands_under_way = 2;
  report.result_passes = 2;
  report.memory = 12'340'000;
  EXPECT_EQ(run_account(report, StageChain(2, make_blur({}))),
            (Lines{"device: Fast, \"new\" GPU (the first GPU); OpenCL 3.0 Maker 1.2, driver 7.8",
                   "start: start device 1.0 ms, build program 31.0 ms",
                   "plan: 2 stages; 2 bands of 250 rows, 2 at a time in 12.3 MB",
                   "blur: tiled 16x16 (auto: 1.5 times as fast), program compiled",
                   "tint: naive (asked for), program from the cache"}));
}

TEST(RunAccount, CountsMergedStages) {
  RunReport report = test::example_report();
  report.engine = {};
  report.engine.device = "processor";
  report.engine.reason = "asked for";
  report.engine.fallbacks = {"GPU: it is broken"};
  report.spans.clear();
  report.passes = {{{"avx2", "the processor"}, "statistics"},
                   {{"avx2", "the processor"}, "levels", 1}};
  report.result_passes = 1;
  report.bands = 1;
  report.bands_under_way = 1;
  EXPECT_EQ(
      run_account(report, StageChain(3, make_blur({}))),
      (Lines{"device: processor (asked for)", "left out: GPU: it is broken",
             "plan: 3 stages, merged into 1; 1 band of 250 rows, 1 at a time in 0.0 MB",
             "statistics: avx2 (the processor)", "second pass: levels: avx2 (the processor)"}));
}

TEST(RunAccount, SaysIfNoStageHadAnythingToDo) {
  RunReport report = test::example_report();
  report.passes.clear();
  EXPECT_EQ(run_account(report, StageChain(2, make_blur({}))).back(),
            "plan: 2 stages, which change nothing; 2 bands of 250 rows, 0 at a time in 0.0 MB");
}

}  // namespace
}  // namespace gpufilter
