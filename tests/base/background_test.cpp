// Work in the background: done once, failures reported, nothing left running.
#include "base/background.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "support/objection.hpp"

namespace gpufilter::test {
namespace {

class BackgroundThreads : public ::testing::TestWithParam<std::size_t> {
 private:
  tbb::global_control threads_{tbb::global_control::max_allowed_parallelism, GetParam()};
};

TEST_P(BackgroundThreads, DoEveryTaskOnce) {
  Background background;
  EXPECT_EQ(background.threads(), GetParam());
  std::vector<std::unique_ptr<BackgroundTask>> tasks;
  std::atomic<int> sum = 0;
  for (int i = 1; i <= 100; ++i) {
    tasks.push_back(std::make_unique<BackgroundTask>(background));
    tasks.back()->start([&sum, i] { sum += i; });
  }
  for (const auto& task : tasks)
    task->wait();
  EXPECT_EQ(sum, 5050);
}

TEST_P(BackgroundThreads, StartATaskAgain) {
  Background background;
  BackgroundTask task(background);
  int runs = 0;
  for (int i = 0; i < 3; ++i) {
    task.start([&runs] { ++runs; });
    task.wait();
    EXPECT_EQ(runs, i + 1);
  }
}

TEST_P(BackgroundThreads, RethrowATasksExceptionWhenWaiting) {
  Background background;
  BackgroundTask task(background);
  task.start([] { throw std::runtime_error("the work failed"); });
  EXPECT_EQ(objection_to<std::runtime_error>([&] { task.wait(); }), "the work failed");
  bool done = false;
  task.start([&done] { done = true; });
  task.wait();
  EXPECT_TRUE(done);
}

TEST_P(BackgroundThreads, EndBeforeTheirTaskIsDestroyed) {
  Background background;
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> running = false;
    {
      BackgroundTask task(background);
      task.start([&running] {
        running = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        running = false;
      });
      // Half of them are interrupted while they work, if there is a thread for them.
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
      while (i % 2 == 0 && !running && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    }
    EXPECT_FALSE(running);
  }
}

TEST_P(BackgroundThreads, AreLeftInPeaceWhenNothingWasStarted) {
  Background background;
  BackgroundTask task(background);
  task.wait();
}

INSTANTIATE_TEST_SUITE_P(Count, BackgroundThreads, ::testing::Values(1, 2, 7));

}  // namespace
}  // namespace gpufilter::test
