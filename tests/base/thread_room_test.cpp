#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/threads.hpp"
#include "support/child_process.hpp"

namespace gpufilter {
namespace {

using test::start_child;
using test::wait_for_child;

// Becomes a user who may have no more than `processes` processes and threads. False if that is not
// possible.
bool become_limited(rlim_t processes) {
  const rlimit limit{processes, processes};
  if (::setrlimit(RLIMIT_NPROC, &limit) != 0) return false;
  if (::geteuid() != 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setgid(65534) == 0 && ::setuid(65534) == 0;
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

}  // namespace
}  // namespace gpufilter
