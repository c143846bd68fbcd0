#include "app/progress.hpp"

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

TEST(Progress, IsALineThatIsTakenAwayAgain) {
  EXPECT_EQ(heard([] {
              ProgressLine line(ProgressMode::on, "a.png");
              line.show(1, 8);
            }),
            "\ra.png: 12 %\033[K\r\033[K");
}

TEST(Progress, IsNotWrittenAtEveryBand) {
  const std::string said = heard([] {
    ProgressLine line(ProgressMode::on, "a.png");
    for (int i = 1; i <= 1000; ++i)
      line.show(i, 1000);
  });
  EXPECT_EQ(said.rfind("\ra.png: 0 %", 0), 0U) << said;
  EXPECT_LT(said.size(), 500U);
}

TEST(Progress, GoesOnAfterAWhile) {
  const std::string said = heard([] {
    ProgressLine line(ProgressMode::on, "a.png");
    line.show(1, 4);
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
    line.show(2, 4);
    line.clear();
    line.clear();
  });
  EXPECT_EQ(said, "\ra.png: 25 %\033[K\ra.png: 50 %\033[K\r\033[K");
}

TEST(Progress, ShowsTheEndOfALongName) {
  const auto shown = [](const std::string& name) {
    return heard([&] {
      ProgressLine line(ProgressMode::on, name);
      line.show(1, 2);
    });
  };
  const std::string end = std::string(59, 'c');
  EXPECT_EQ(shown("a/b/" + end), "\r.../" + end + ": 50 %\033[K\r\033[K");
  // Where it is cut lies the second byte of a character.
  EXPECT_EQ(shown("x\xc3\xa4" + end), "\r..." + end + ": 50 %\033[K\r\033[K");
}

TEST(Progress, CountsBeyondThirtyTwoBits) {
  EXPECT_EQ(heard([] {
              ProgressLine line(ProgressMode::on, "a.png");
              line.show(3'000'000'000, 4'000'000'000);
            }),
            "\ra.png: 75 %\033[K\r\033[K");
}

TEST(Progress, SaysNothingWhereItIsOffOrNobodyLooks) {
  for (const ProgressMode mode : {ProgressMode::off, ProgressMode::automatic}) {
    EXPECT_EQ(heard([mode] {
                ProgressLine line(mode, "a.png");
                line.show(1, 2);
              }),
              "");
  }
}

}  // namespace
}  // namespace gpufilter
