#include "app/cli/progress.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

std::string heard(const std::function<void()>& say) {
  ::testing::internal::CaptureStderr();
  say();
  return ::testing::internal::GetCapturedStderr();
}

Progress half(std::uint64_t done = 1, std::uint64_t all = 2) {
  Progress progress;
  progress.name = "a.png";
  progress.done = done;
  progress.all = all;
  return progress;
}

// tests/cli/progress_terminal_test.cpp tests what a terminal shows.
TEST(Progress, IsLinesWhereThereIsNoTerminal) {
  EXPECT_EQ(heard([] {
              ProgressDisplay display(ProgressMode::on);
              display.show(half());
              display.clear();
            }),
            "gpufilter: a.png, 50 %\n");
}

TEST(Progress, IsALineASecond) {
  EXPECT_EQ(heard([] {
              ProgressDisplay display(ProgressMode::on);
              for (std::uint64_t i = 1; i <= 999; ++i)
                display.show(half(i, 1000));
              std::this_thread::sleep_for(std::chrono::milliseconds(1010));
              display.show(half(1000, 1000));
            }),
            "gpufilter: a.png, 0 %\ngpufilter: a.png, 100 %\n");
}

TEST(Progress, SaysNothingWhereItIsOffOrNobodyLooks) {
  for (const ProgressMode mode : {ProgressMode::off, ProgressMode::automatic}) {
    EXPECT_EQ(heard([mode] {
                ProgressDisplay display(mode);
                display.show(half());
                std::this_thread::sleep_for(std::chrono::milliseconds(1010));
                display.show(half());
              }),
              "");
  }
}

}  // namespace
}  // namespace gpufilter
