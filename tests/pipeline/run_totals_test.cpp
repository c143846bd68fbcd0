#include "pipeline/run_totals.hpp"

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

TEST(RunTotals, AddUpEveryKindOfSpan) {
  RunReport report;
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

TEST(RunTotals, RatesArePerSecond) {
  const ActivityTotal total{.duration = 2'000'000, .bytes = 6'000'000};
  EXPECT_DOUBLE_EQ(total.megapixels_per_second({2000, 1000}), 1000);
  EXPECT_DOUBLE_EQ(total.gigabytes_per_second(), 3);
  EXPECT_EQ(ActivityTotal{}.megapixels_per_second({2000, 1000}), 0);
  EXPECT_EQ(ActivityTotal{}.gigabytes_per_second(), 0);
}

}  // namespace
}  // namespace gpufilter
