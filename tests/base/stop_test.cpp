// A stop reaches the threads that work for the call, and no others.
#include "base/stop.hpp"

#include <stop_token>

#include <gtest/gtest.h>

#include "base/background.hpp"
#include "host/parallel.hpp"

namespace gpufilter::test {
namespace {

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

}  // namespace
}  // namespace gpufilter::test
