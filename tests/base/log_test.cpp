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
  void TearDown() override {
    log::set_level(before_);
    log::set_color(log::Color::automatic);
  }

  // What `say` writes to standard error.
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

TEST_F(Log, DropsMessagesBelowItsLevel) {
  const std::string warning = "gpufilter: warning: w\n";
  const std::array<std::pair<log::Level, std::string>, 5> cases{{
      {log::Level::debug, "gpufilter: d\ngpufilter: i\n" + warning + "gpufilter: e\n"},
      {log::Level::info, "gpufilter: i\n" + warning + "gpufilter: e\n"},
      {log::Level::warn, warning + "gpufilter: e\n"},
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
            "\r\033[Jgpufilter: warning: w\n\r\033[J50 %\r"
            "\r\033[J60 %\r\r\033[Jgpufilter: warning: w\n");
}

TEST_F(Log, TheStatusFitsIntoALine) {
  EXPECT_EQ(heard([] {
              log::show_status(std::string(80, 'x'));
              log::show_status("");
            }),
            "\r\033[J" + std::string(76, 'x') + "...\r\r\033[J");
}

TEST_F(Log, NeverHidesWhyTheProgramEnds) {
  log::set_level(log::Level::off);
  EXPECT_EQ(heard([] { log::failure("f"); }), "gpufilter: f\n");
}

TEST_F(Log, ShowsFallbacksAtTheErrorLevel) {
  log::set_level(log::Level::error);
  EXPECT_EQ(heard([] { log::warn_of_fallback("f"); }), "gpufilter: warning: f\n");
}

TEST_F(Log, ColoursLabelsAlone) {
  log::set_level(log::Level::debug);
  log::set_color(log::Color::always);
  EXPECT_EQ(everything(),
            "gpufilter: d\ngpufilter: i\n"
            "gpufilter: \033[1;35mwarning:\033[0m w\n"
            "\033[1;31mgpufilter:\033[0m e\n");
  log::set_color(log::Color::automatic);
  EXPECT_EQ(heard([] { log::error("e"); }), "gpufilter: e\n") << "this is not a terminal";
}

TEST_F(Log, TakesTextAsItIs) {
  log::set_level(log::Level::warn);
  EXPECT_EQ(heard([] { log::warn("{} {0:x} %s.png"); }), "gpufilter: warning: {} {0:x} %s.png\n");
}

TEST_F(Log, ShowsControlCharactersEscaped) {
  EXPECT_EQ(heard([] { log::error("a\nb\033[2J\xff ü"); }), "gpufilter: a\\nb\\x1b[2J\\xff ü\n");
  EXPECT_EQ(heard([] {
              log::show_status("a\nb");
              log::show_status("");
            }),
            "\r\033[Ja\\nb\r\r\033[J");
}

}  // namespace
}  // namespace gpufilter
