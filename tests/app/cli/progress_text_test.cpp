#include <gtest/gtest.h>

#include "app/cli/progress.hpp"
#include "base/terminal.hpp"

namespace gpufilter {
namespace {

constexpr Nanoseconds second = 1'000'000'000;

Progress folder() {
  Progress progress;
  progress.pictures = 7;
  progress.all_pictures = 20;
  progress.done = 350;
  progress.all = 1000;
  progress.worked = 350;
  progress.filtered = 7;
  progress.filtered_pixels = 140'000'000;
  progress.elapsed = 2 * second;
  return progress;
}

Progress picture(const std::string& name) {
  Progress progress;
  progress.name = name;
  progress.done = progress.worked = 3'000'000'000;
  progress.all = 4'000'000'000;
  progress.elapsed = 6 * second;
  return progress;
}

TEST(ProgressText, SaysOnlyWhatIsKnown) {
  EXPECT_EQ(progress_text({.all_pictures = 20, .all = 1000}), "0/20 pictures, 0 %");
  EXPECT_EQ(progress_text({}), "0/0 pictures, 100 %");
  EXPECT_EQ(progress_text({.all_pictures = 1, .all = 10}), "0/1 picture, 0 %");
  // Nothing was filtered, so the rate is unknown.
  EXPECT_EQ(progress_text(
                {.pictures = 5, .all_pictures = 20, .done = 999, .all = 1000, .elapsed = second}),
            "5/20 pictures, 99 %");
  // Nothing is finished: the rates are unknown, the time left is known.
  EXPECT_EQ(progress_text(
                {.all_pictures = 2, .done = 500, .all = 2000, .worked = 500, .elapsed = second}),
            "0/2 pictures, 25 %, 0:03 left");
}

TEST(ProgressText, GivesWhatIsLeftAndRates) {
  EXPECT_EQ(progress_text(folder()), "7/20 pictures, 35 %, 0:04 left, 3.5 pictures/s, 70.0 Mpx/s");
  Progress slow = folder();
  slow.elapsed = 2800 * second;
  EXPECT_EQ(progress_text(slow), "7/20 pictures, 35 %, 1:26:40 left, 400.0 s/picture, 0.1 Mpx/s");
  slow.filtered_pixels = 100;
  EXPECT_EQ(progress_text(slow), "7/20 pictures, 35 %, 1:26:40 left, 400.0 s/picture");
  EXPECT_EQ(progress_text(picture("a/in.png")), "a/in.png, 75 %, 0:02 left");
}

TEST(ProgressText, CountsSecondsForAPictureBelowOneASecond) {
  EXPECT_EQ(picture_rate(3, 2 * second), "1.5 pictures/s");
  EXPECT_EQ(picture_rate(2, 2 * second), "1.0 pictures/s");
  EXPECT_EQ(picture_rate(1, 2 * second), "2.0 s/picture");
}

// The time left depends on the work done, not on skipped pictures.
TEST(ProgressText, SkippedPicturesTookNoTime) {
  Progress progress = folder();
  progress.worked = 100;
  EXPECT_EQ(progress_text(progress).find("7/20 pictures, 35 %, 0:13 left"), 0U);
}

TEST(ProgressBar, LeavesFieldsOutFromTheRight) {
  EXPECT_EQ(progress_bar(folder(), 199),
            "7/20 pictures, 35 % [#######-------------] 0:04 left, 3.5 pictures/s, 70.0 Mpx/s");
  EXPECT_EQ(progress_bar(folder(), 79),
            "7/20 pictures, 35 % [######-------------] 0:04 left, 3.5 pictures/s, 70.0 Mpx/s");
  EXPECT_EQ(progress_bar(folder(), 59),
            "7/20 pictures, 35 % [###--------] 0:04 left, 3.5 pictures/s");
  EXPECT_EQ(progress_bar(folder(), 39), "7/20 pictures, 35 % [##-----] 0:04 left");
  EXPECT_EQ(progress_bar(folder(), 36), "7/20 pictures, 35 %, 0:04 left");
  EXPECT_EQ(progress_bar(folder(), 29), "7/20 pictures, 35 % [##-----]");
  EXPECT_EQ(progress_bar(folder(), 20), "7/20 pictures, 35 %");
  EXPECT_EQ(progress_bar(folder(), 12), "7/20 pict...");
  EXPECT_EQ(progress_bar(folder(), 0), "");
}

TEST(ProgressBar, FitsAnyWidth) {
  Progress long_one = folder();
  long_one.pictures = 12345;
  long_one.all_pictures = 1234567;
  long_one.elapsed = 1'000'000 * second;
  for (const Progress& progress : {folder(), long_one, picture("in.png"),
                                   picture("\xe5\x9b\xbe\xe7\x89\x87/\xe7\x8c\xab-sehr-lang.png"),
                                   picture(std::string(300, 'x'))}) {
    for (std::size_t columns = 0; columns < 220; ++columns) {
      const std::string line = progress_bar(progress, columns);
      EXPECT_LE(display_width(line), columns) << line;
      // A wider terminal must not show less.
      EXPECT_LE(columns < 40 ? 0 : display_width("35 %, 0:04 left"), display_width(line)) << line;
    }
  }
}

TEST(ProgressBar, OnePictureHasTheSameBar) {
  EXPECT_EQ(progress_bar(picture("in.png"), 79), "in.png, 75 % [###############-----] 0:02 left");
  EXPECT_EQ(progress_bar(picture("in.png"), 39), "in.png, 75 % [##########----] 0:02 left");
  EXPECT_EQ(progress_bar(picture("holidays/2024/in.png"), 39),
            "...024/in.png, 75 % [#####--] 0:02 left");
}

TEST(ProgressBar, NamesCannotMoveTheCursor) {
  EXPECT_EQ(progress_bar(picture("\n\r\033[2J.png"), 79).find_first_of("\n\r\033"),
            std::string::npos);
}

TEST(ProgressBar, DrawsTheShare) {
  EXPECT_EQ(progress_bar({.all_pictures = 2, .done = 1, .all = 2}, 79),
            "0/2 pictures, 50 % [##########----------]");
  EXPECT_EQ(progress_bar({.pictures = 2, .all_pictures = 2, .done = 2, .all = 2}, 79),
            "2/2 pictures, 100 % [####################]");
}

}  // namespace
}  // namespace gpufilter
