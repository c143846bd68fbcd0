#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include "base/background.hpp"
#include "base/threads.hpp"

namespace gpufilter {
namespace {

// How many threads take part in work that is enough for many.
std::size_t threads_at_work() {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  tbb::parallel_for(0, 200, [&](int) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return seen.size();
}

TEST(ThreadLimit, AppliesWhileItExists) {
  const std::size_t before = allowed_threads();
  EXPECT_GE(before, 1U);
  {
    const ThreadLimit one(1);
    EXPECT_EQ(allowed_threads(), 1U);
    EXPECT_EQ(threads_at_work(), 1U);
    EXPECT_EQ(Background().threads(), 1U);
  }
  EXPECT_EQ(allowed_threads(), before);
}

TEST(ThreadLimit, TheLowestOfSeveralApplies) {
  const ThreadLimit two(2);
  const std::size_t outer = allowed_threads();
  EXPECT_LE(outer, 2U);
  {
    const ThreadLimit one(1);
    const ThreadLimit seven(7);
    EXPECT_EQ(allowed_threads(), 1U);
  }
  EXPECT_EQ(allowed_threads(), outer);
  EXPECT_LE(threads_at_work(), 2U);
}

// Threads join work in the background that began when fewer were allowed.
TEST(ThreadLimit, CanBeLiftedDuringWork) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  ThreadLimit limit(1);
  Background background;
  EXPECT_EQ(background.threads(), 1U);
  std::mutex mutex;
  std::condition_variable joined;
  std::set<std::thread::id> seen;
  std::size_t wanted = 1;
  // Waits until as many threads take part, because nobody knows when a busy machine lets the second
  // one run; after a minute it never does.
  const auto work = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::unique_lock lock(mutex);
    seen.insert(std::this_thread::get_id());
    joined.notify_all();
    if (!joined.wait_for(lock, std::chrono::minutes(1), [&] { return seen.size() >= wanted; }))
      wanted = 0;
  };
  const auto threads_of = [&](int count) {
    seen.clear();
    wanted = allowed_threads();
    std::vector<std::unique_ptr<BackgroundTask>> tasks;
    for (int i = 0; i < count; ++i)
      tasks.emplace_back(std::make_unique<BackgroundTask>(background))->start(work);
    for (const auto& task : tasks)
      task->wait();
    return seen.size();
  };
  EXPECT_EQ(threads_of(10), 1U);
  limit.set(2);
  EXPECT_EQ(allowed_threads(), 2U);
  EXPECT_EQ(background.threads(), 2U);
  EXPECT_EQ(threads_of(100), 2U);
  limit.set(1);
  EXPECT_EQ(background.threads(), 1U);
}

TEST(ThreadLimit, NoThreadAtAllIsOne) {
  const ThreadLimit none(0);
  EXPECT_EQ(threads_at_work(), 1U);
}

}  // namespace
}  // namespace gpufilter
