// Work in the background: done once, failures reported, nothing left running.
#include "base/threads.hpp"

#include <condition_variable>
#include <stop_token>

#include <grp.h>
#include <sys/resource.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include "base/background.hpp"
#include "base/stop.hpp"
#include "base/timeline.hpp"
#include "host/parallel.hpp"
#include "support/child_process.hpp"

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

TEST(IdlePool, SizesAreFewAndWasteLittle) {
  std::size_t sizes = 0;
  std::size_t before = 0;
  for (std::size_t bytes = 1; bytes <= 100'000; ++bytes) {
    const std::size_t size = pooled_size(bytes);
    ASSERT_GE(size, bytes);
    ASSERT_LE(size, bytes + bytes / 8);
    ASSERT_GE(size, before) << "of " << bytes;
    ASSERT_EQ(pooled_size(size), size) << "of " << bytes;
    sizes += size != before ? 1 : 0;
    before = size;
  }
  EXPECT_LT(sizes, 150U);
}

TEST(IdlePool, GivesWhatHasTheSize) {
  IdlePool<std::unique_ptr<int>> pool(1000);
  EXPECT_FALSE(pool.take(10).has_value());
  pool.put(10, std::make_unique<int>(1));
  pool.put(20, std::make_unique<int>(2));
  EXPECT_FALSE(pool.take(15).has_value());
  EXPECT_EQ(**pool.take(20), 2);
  EXPECT_FALSE(pool.take(20).has_value()) << "it was given away";
  EXPECT_EQ(**pool.take(10), 1);
}

TEST(IdlePool, DropsWhatIsTooMuch) {
  IdlePool<std::shared_ptr<int>> pool(30);
  const auto thing = std::make_shared<int>(1);
  pool.put(20, thing);
  pool.put(11, thing);
  EXPECT_FALSE(pool.take(11).has_value());
  pool.put(10, thing);
  EXPECT_TRUE(pool.take(20).has_value());
  pool.put(20, thing);
  EXPECT_TRUE(pool.take(20).has_value()) << "there is room again";
}

struct Numbered {
  int number = 0;
  int square = 0;
};

TEST(OrderedPieces, DeliversInOrderAndUsesPiecesAgain) {
  OrderedPieces<Numbered> pieces;
  std::vector<int> squares;
  std::vector<const Numbered*> known;
  const auto deliver = [&](const Numbered& piece) { squares.push_back(piece.square); };
  for (int i = 0; i < 100; ++i) {
    pieces.deliver_down_to(3, deliver);
    Numbered& piece = pieces.add(pieces.take());
    piece.number = i;
    if (i % 3 == 0) {
      piece.square = i * i;  // done by the caller
    } else {
      pieces.start_last([&piece] { piece.square = piece.number * piece.number; });
    }
    if (std::find(known.begin(), known.end(), &piece) == known.end()) known.push_back(&piece);
  }
  pieces.deliver_down_to(0, deliver);
  ASSERT_EQ(squares.size(), 100U);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(squares[static_cast<std::size_t>(i)], i * i);
  EXPECT_LE(known.size(), 4U);
}

TEST(OrderedPieces, ForwardsTheFailureOfAPieceInItsTurn) {
  OrderedPieces<Numbered> pieces;
  for (int i = 0; i < 3; ++i) {
    pieces.add(pieces.take()).number = i;
    pieces.start_last([i] {
      if (i == 1) throw std::runtime_error("the second");
    });
  }
  int delivered = 0;
  EXPECT_THROW(pieces.deliver_down_to(0, [&](const Numbered& /*piece*/) { ++delivered; }),
               std::runtime_error);
  EXPECT_EQ(delivered, 1);
  EXPECT_EQ(pieces.first().number, 1);
}

TEST(OrderedPieces, EndsWorkThatNobodyWaitsFor) {
  std::vector<int> done(50);
  OrderedPieces<Numbered> pieces;
  for (int& mark : done) {
    pieces.add(pieces.take());
    pieces.start_last([&mark] { mark = 1; });
  }
}

// A stop reaches the threads that work for the call, and no others.

TEST(StopScope, EndsWithTheCall) {
  std::stop_source outer;
  std::stop_source inner;
  inner.request_stop();
  check_stop();
  EXPECT_FALSE(stop_of_this_call().stop_possible());
  {
    const std::stop_token of_outer = outer.get_token();
    const StopScope call(of_outer);
    check_stop();
    {
      const std::stop_token of_inner = inner.get_token();
      const StopScope call_in_callback(of_inner);
      EXPECT_THROW(check_stop(), Stopped);
    }
    check_stop();
    outer.request_stop();
    EXPECT_THROW(check_stop(), Stopped);
    const std::stop_token none;
    const StopScope unstoppable_call(none);
    check_stop();
  }
  check_stop();
}

TEST(StopScope, IsPassedOnToTasks) {
  std::stop_source source;
  const std::stop_token token = source.get_token();
  Background background;
  BackgroundTask task(background);
  {
    const StopScope call(token);
    task.start([] { check_stop(); });
    task.wait();
    run_parts(100, [](int) { check_stop(); });
    source.request_stop();
    EXPECT_THROW(run_parts(100, [](int) { check_stop(); }), Stopped);
    task.start([] { check_stop(); });
  }
  EXPECT_THROW(task.wait(), Stopped);
  run_parts(100, [](int) { check_stop(); });
  task.start([] { check_stop(); });
  task.wait();
}

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
  // Waits until that many threads take part, because a busy machine may start the second one late;
  // gives up after a minute.
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

// Becomes a user who may have no more than `processes` processes and threads. False if that is not
// possible.
bool become_limited(rlim_t processes) {
  const rlimit limit{processes, processes};
  if (::setrlimit(RLIMIT_NPROC, &limit) != 0) return false;
  if (::geteuid() != 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setgid(65534) == 0 &&
         ::setuid(user_of_this_process()) == 0;
}

// How many threads run at the same time if `wanted` are requested.
std::size_t started(std::size_t wanted) {
  std::atomic<bool> end = false;
  const auto threads = start_threads(wanted, [&](std::size_t /*index*/) {
    while (!end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  end = true;
  return threads.size();
}

TEST(ThreadRoom, WithoutALimitAllCanStart) {
  EXPECT_EQ(startable_threads(0), 0U);
  EXPECT_EQ(startable_threads(1), 1U);
  EXPECT_EQ(startable_threads(20), 20U);
  EXPECT_EQ(started(20), 20U);
}

TEST(ThreadRoom, ALimitOfProcessesIsFound) {
  GPUFILTER_REQUIRE_A_NEW_PROCESS();
  EXPECT_EQ(wait_for_child(start_child([] {
              if (!become_limited(17)) return 1;
              const std::size_t found = startable_threads(64);
              const std::size_t possible = started(64);
              // Users of a machine have other processes; the superuser's stand-in has none here.
              if (possible > 16 || found > possible) return 2;
              if (possible > 4 && found < possible / 2) return 3;
              return started(found) == found && startable_threads(64) == found ? 0 : 4;
            })),
            0);
}

TEST(ThreadRoom, HalfOfALimitedAddressSpaceIsForThreads) {
  GPUFILTER_REQUIRE_A_NEW_PROCESS();
  EXPECT_EQ(wait_for_child(start_child([] {
              const rlimit limit{rlim_t{1} << 44U, rlim_t{1} << 44U};  // sanitizers take 20 TiB
              if (::setrlimit(RLIMIT_AS, &limit) != 0) return 1;
              if (address_space_limit() != limit.rlim_cur) return 2;
              return startable_threads(std::size_t{1} << 30U) < (std::size_t{1} << 19U) + 1 ? 0 : 3;
            })),
            0);
}

TEST(ThreadRoom, WorkRunsOnAThreadOfItsOwn) {
  const auto here = std::this_thread::get_id();
  EXPECT_NE(start_on_thread([] { return std::this_thread::get_id(); }).get(), here);
  auto failing = start_on_thread([]() -> int { throw std::runtime_error("why"); });
  EXPECT_THROW(static_cast<void>(failing.get()), std::runtime_error);
}

TEST(ThreadRoom, WithoutAThreadWorkRunsHere) {
  GPUFILTER_REQUIRE_A_NEW_PROCESS();
  EXPECT_EQ(wait_for_child(start_child([] {
              if (!become_limited(1)) return 1;
              const auto here = std::this_thread::get_id();
              if (start_on_thread([] { return std::this_thread::get_id(); }).get() != here)
                return 2;
              auto failing = start_on_thread([]() -> int { throw std::runtime_error("why"); });
              try {
                return failing.get();
              } catch (const std::runtime_error&) {
                return startable_threads(7) == 0 && started(7) == 0 ? 0 : 3;
              }
            })),
            0);
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
}  // namespace gpufilter::test
