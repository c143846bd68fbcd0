// Means and deviations, and reports whose bits differ.

#include <array>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "lab/bench/report.hpp"

namespace gpufilter::lab {
namespace {

TEST(Spread, IsThatOfTheTrials) {
  const std::array seconds{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
  const Spread spread = spread_of(seconds);
  EXPECT_DOUBLE_EQ(spread.mean, 5);
  EXPECT_DOUBLE_EQ(spread.minimum, 2);
  EXPECT_DOUBLE_EQ(spread.maximum, 9);
  EXPECT_NEAR(spread.deviation, 2.13809, 1e-5);
  EXPECT_EQ(spread_of(std::array{3.0}).deviation, 0);
}

TEST(Measure, WarmsUpAndRepeatsShortWork) {
  int calls = 0;
  const Measurement measurement = measure(3, [&] { ++calls; });
  EXPECT_GT(calls, 1000) << "work of nanoseconds is repeated within a trial";
  EXPECT_FALSE(measurement.events);
  EXPECT_LE(measurement.wall.minimum, measurement.wall.mean);
  EXPECT_LE(measurement.wall.mean, measurement.wall.maximum);
}

TEST(Measure, DoesSlowWorkLessOften) {
  int calls = 0;
  const auto slow = [&](int milliseconds) {
    return [&calls, milliseconds] {
      ++calls;
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    };
  };
  EXPECT_EQ(measure(3, slow(5)).trials, 3);
  EXPECT_EQ(calls, 4);
  calls = 0;
  const Measurement once = measure(3, slow(2600));
  EXPECT_EQ(once.trials, 1);
  EXPECT_EQ(calls, 1) << "the first run counts";
  EXPECT_GE(once.wall.mean, 2.6);
}

TEST(Report, FailsWhereBitsDifferAndNotByDesign) {
  Report report;
  EXPECT_FALSE(report.failed());
  report.rows = {
      {{"bits", std::string(bits_equal)}}, {{"bits", std::string(bits_differ_by_design)}}, {}};
  EXPECT_FALSE(report.failed());
  report.rows.push_back({{"bits", std::string(bits_of(false))}});
  EXPECT_TRUE(report.failed());
}

}  // namespace
}  // namespace gpufilter::lab
