#include "pipeline/run/run_totals.hpp"

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

TEST(RunTotals, AddUpEveryKindOfSpan) {
  RunReport report;
  report.passes.resize(2);
  report.passes[1].stage = "blur";
  report.spans = {
      {.activity = Activity::encode, .duration = 5, .bytes = 50},
      {.activity = Activity::kernel, .pass = 1, .duration = 7, .bytes = 70},
      {.activity = Activity::kernel, .pass = 0, .duration = 11, .bytes = 110},
      {.activity = Activity::kernel, .pass = 1, .duration = 13, .bytes = 130},
      {.activity = Activity::decode, .duration = 17, .bytes = 170},
      {.activity = Activity::build_program, .pass = 0, .duration = 19},
  };
  const auto totals = activity_totals(report);
  ASSERT_EQ(totals.size(), 5U);
  EXPECT_EQ(totals[0].activity, Activity::build_program);
  EXPECT_EQ(totals[1].activity, Activity::decode);
  EXPECT_EQ(totals[2].activity, Activity::kernel);
  EXPECT_EQ(totals[2].pass, 0);
  EXPECT_EQ(totals[2].duration, 11);
  EXPECT_EQ(totals[2].commands, 1);
  EXPECT_EQ(totals[3].pass, 1);
  EXPECT_EQ(totals[3].stage, "blur");
  EXPECT_EQ(totals[3].duration, 20);
  EXPECT_EQ(totals[3].bytes, 200U);
  EXPECT_EQ(totals[3].commands, 2);
  EXPECT_EQ(totals[4].activity, Activity::encode);
}

TEST(RunTotals, KeepWalksApart) {
  RunReport report;
  report.spans = {
      {.activity = Activity::decode, .walk = 1, .duration = 5},
      {.activity = Activity::decode, .walk = 0, .duration = 3},
      {.activity = Activity::encode, .walk = 1, .duration = 2},
      {.activity = Activity::upload, .walk = 0, .duration = 1},
  };
  const auto totals = activity_totals(report);
  ASSERT_EQ(totals.size(), 4U);
  EXPECT_EQ(totals[0].activity, Activity::decode);
  EXPECT_EQ(totals[0].duration, 3);
  EXPECT_EQ(totals[1].activity, Activity::upload);
  EXPECT_EQ(totals[2].activity, Activity::decode);
  EXPECT_EQ(totals[2].walk, 1);
  EXPECT_EQ(totals[3].activity, Activity::encode);
}

TEST(RunTotals, AreEmptyForNothing) {
  EXPECT_TRUE(activity_totals({}).empty());
}

TEST(RunTotals, KnowWhatNoSpanAccountsFor) {
  RunReport report;
  report.start = 1000;
  report.total = 100;
  EXPECT_EQ(unaccounted_time(report), 100);
  report.spans = {
      {.activity = Activity::encode, .start = 1060, .duration = 20},  // out of order
      {.activity = Activity::decode, .start = 1010, .duration = 30},
      {.activity = Activity::kernel, .start = 1020, .duration = 5},   // within the one before
      {.activity = Activity::upload, .start = 1035, .duration = 10},  // overlaps it
  };
  EXPECT_EQ(unaccounted_time(report), 10 + 15 + 20);
  report.spans.push_back({.activity = Activity::find_devices, .start = 990, .duration = 15});
  EXPECT_EQ(unaccounted_time(report), 5 + 15 + 20) << "began before";
  report.spans.push_back({.activity = Activity::encode, .start = 1090, .duration = 50});
  EXPECT_EQ(unaccounted_time(report), 5 + 15 + 10) << "ended after";
  report.spans.push_back({.activity = Activity::encode, .start = 2000, .duration = 50});
  EXPECT_EQ(unaccounted_time(report), 5 + 15 + 10) << "outside";
}

TEST(RunTotals, RatesArePerSecond) {
  const ActivityTotal total{.duration = 2'000'000, .bytes = 6'000'000, .pixels = 2'000'000};
  EXPECT_DOUBLE_EQ(total.megapixels_per_second(), 1000);
  EXPECT_DOUBLE_EQ(total.gigabytes_per_second(), 3);
  EXPECT_EQ(ActivityTotal{.pixels = 1}.megapixels_per_second(), 0);
  EXPECT_EQ(ActivityTotal{}.gigabytes_per_second(), 0);
}

}  // namespace
}  // namespace gpufilter
