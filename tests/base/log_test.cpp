#include "base/log.hpp"

#include <array>
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

class Log : public ::testing::Test {
 protected:
  void TearDown() override { log::set_level(before_); }

  // What `say` leaves on standard error.
  static std::string heard(const std::function<void()>& say) {
    ::testing::internal::CaptureStderr();
    say();
    return ::testing::internal::GetCapturedStderr();
  }

  static std::string everything() {
    return heard([] {
      log::debug("d");
      log::info("i");
      log::warn("w");
      log::error("e");
    });
  }

  const log::Level before_ = log::level();
};

TEST_F(Log, DropsWhatLiesBelowItsLevel) {
  const std::array<std::pair<log::Level, const char*>, 5> cases{{
      {log::Level::debug, "gpufilter: d\ngpufilter: i\ngpufilter: w\ngpufilter: e\n"},
      {log::Level::info, "gpufilter: i\ngpufilter: w\ngpufilter: e\n"},
      {log::Level::warn, "gpufilter: w\ngpufilter: e\n"},
      {log::Level::error, "gpufilter: e\n"},
      {log::Level::off, ""},
  }};
  for (const auto& [level, expected] : cases) {
    log::set_level(level);
    EXPECT_EQ(log::level(), level);
    EXPECT_EQ(everything(), expected);
  }
}

TEST_F(Log, BeginsWithWarnings) {
  EXPECT_EQ(before_, log::Level::warn);
}

TEST_F(Log, LinesGoAboveTheStatus) {
  log::set_level(log::Level::warn);
  EXPECT_EQ(heard([] {
              log::show_status("");
              log::show_status("50 %");
              log::info("i");
              log::warn("w");
              log::show_status("60 %");
              log::show_status("");
              log::warn("w");
            }),
            "\r\033[J50 %\r"
            "\r\033[Jgpufilter: w\n\r\033[J50 %\r"
            "\r\033[J60 %\r\r\033[Jgpufilter: w\n");
}

TEST_F(Log, TheStatusFitsIntoALine) {
  EXPECT_EQ(heard([] {
              log::show_status(std::string(80, 'x'));
              log::show_status("");
            }),
            "\r\033[J" + std::string(76, 'x') + "...\r\r\033[J");
}

TEST_F(Log, TakesLinesAsTheyAre) {
  log::set_level(log::Level::warn);
  EXPECT_EQ(heard([] { log::warn("{} {0:x} %s.png"); }), "gpufilter: {} {0:x} %s.png\n");
}

}  // namespace
}  // namespace gpufilter
