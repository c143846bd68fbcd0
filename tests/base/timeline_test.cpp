#include "base/timeline.hpp"

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

TEST(Timeline, KeepsSpansInTheOrderAdded) {
  Timeline timeline;
  EXPECT_TRUE(timeline.spans().empty());
  timeline.add({.activity = Activity::encode, .start = 7, .duration = 3, .bytes = 9});
  timeline.add({.activity = Activity::decode, .pass = 2, .start = 1});
  const auto spans = timeline.spans();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].activity, Activity::encode);
  EXPECT_EQ(spans[0].pass, -1);
  EXPECT_EQ(spans[0].duration, 3);
  EXPECT_EQ(spans[0].bytes, 9U);
  EXPECT_EQ(spans[1].pass, 2);
}

TEST(Timeline, ScopedSpansLastAsLongAsTheyLive) {
  Timeline timeline;
  const Nanoseconds before = now();
  {
    const ScopedSpan span(timeline, {.activity = Activity::upload, .bytes = 5, .rows = 2});
    EXPECT_TRUE(timeline.spans().empty());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const Nanoseconds after = now();
  ASSERT_EQ(timeline.spans().size(), 1U);
  const Span span = timeline.spans().front();
  EXPECT_EQ(span.activity, Activity::upload);
  EXPECT_EQ(span.bytes, 5U);
  EXPECT_EQ(span.rows, 2);
  EXPECT_GE(span.duration, 2'000'000);
  EXPECT_GE(span.start, before);
  EXPECT_LE(span.start + span.duration, after);
}

TEST(Timeline, TakesSpansFromManyThreads) {
  constexpr int threads = 4;
  constexpr int each = 1000;
  Timeline timeline;
  std::vector<std::thread> running;
  running.reserve(threads);
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&timeline, i] {
      for (int k = 0; k < each; ++k)
        timeline.add({.activity = Activity::kernel, .pass = i * each + k});
    });
  }
  for (std::thread& thread : running)
    thread.join();
  std::set<int> passes;
  for (const Span& span : timeline.spans())
    passes.insert(span.pass);
  EXPECT_EQ(passes.size(), static_cast<std::size_t>(threads * each));
}

TEST(Timeline, ActivitiesHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Activity activity :
       {Activity::start_device, Activity::build_program, Activity::decode, Activity::read_back,
        Activity::upload, Activity::kernel, Activity::download, Activity::encode}) {
    names.insert(activity_name(activity));
  }
  EXPECT_EQ(names.size(), 8U);
  EXPECT_FALSE(names.contains("?"));
}

}  // namespace
}  // namespace gpufilter
