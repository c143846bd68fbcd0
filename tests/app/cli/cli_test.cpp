// Messages of the program during a run and on failures.
#include <new>

#include "app/cli/commands.hpp"
#include "app/cli/progress.hpp"
#include "app/report/run_reporter.hpp"
#include "base/atomic_file.hpp"
#include "base/terminal.hpp"
#include "support/child_process.hpp"

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

TEST(ProgressText, GivesWhatIsLeftAndRatesIfTheyAreKnown) {
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
  EXPECT_EQ(progress_text(folder()), "7/20 pictures, 35 %, 0:04 left, 3.5 pictures/s, 70.0 Mpx/s");
  Progress slow = folder();
  slow.elapsed = 2800 * second;
  EXPECT_EQ(progress_text(slow), "7/20 pictures, 35 %, 1:26:40 left, 400.0 s/picture, 0.1 Mpx/s");
  slow.filtered_pixels = 100;
  EXPECT_EQ(progress_text(slow), "7/20 pictures, 35 %, 1:26:40 left, 400.0 s/picture");
  EXPECT_EQ(progress_text(picture("a/in.png")), "a/in.png, 75 %, 0:02 left");
  EXPECT_EQ(picture_rate(3, 2 * second), "1.5 pictures/s");
  EXPECT_EQ(picture_rate(2, 2 * second), "1.0 pictures/s");
  EXPECT_EQ(picture_rate(1, 2 * second), "2.0 s/picture");
  // The time left depends on the work done, not on skipped pictures.
  Progress progress = folder();
  progress.worked = 100;
  EXPECT_EQ(progress_text(progress).find("7/20 pictures, 35 %, 0:13 left"), 0U);
}

TEST(ProgressBar, LeavesFieldsOutFromTheRightAndDrawsTheShare) {
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
  EXPECT_EQ(progress_bar(picture("in.png"), 79), "in.png, 75 % [###############-----] 0:02 left");
  EXPECT_EQ(progress_bar(picture("in.png"), 39), "in.png, 75 % [##########----] 0:02 left");
  EXPECT_EQ(progress_bar(picture("holidays/2024/in.png"), 39),
            "...024/in.png, 75 % [#####--] 0:02 left");
  EXPECT_EQ(progress_bar(picture("\n\r\033[2J.png"), 79).find_first_of("\n\r\033"),
            std::string::npos);
  EXPECT_EQ(progress_bar({.all_pictures = 2, .done = 1, .all = 2}, 79),
            "0/2 pictures, 50 % [##########----------]");
  EXPECT_EQ(progress_bar({.pictures = 2, .all_pictures = 2, .done = 2, .all = 2}, 79),
            "2/2 pictures, 100 % [####################]");
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

std::string heard(const std::function<void()>& say) {
  ::testing::internal::CaptureStderr();
  say();
  return ::testing::internal::GetCapturedStderr();
}

Progress half(std::uint64_t done = 1, std::uint64_t all = 2) {
  Progress progress;
  progress.name = "a.png";
  progress.done = done;
  progress.all = all;
  return progress;
}

// tests/cli/messages_test.cpp tests what a terminal shows.
TEST(Progress, IsALineASecondWhereThereIsNoTerminal) {
  EXPECT_EQ(heard([] {
              ProgressDisplay display(ProgressMode::on);
              display.show(half());
              display.clear();
            }),
            "gpufilter: a.png, 50 %\n");
  EXPECT_EQ(heard([] {
              ProgressDisplay display(ProgressMode::on);
              for (std::uint64_t i = 1; i <= 999; ++i)
                display.show(half(i, 1000));
              std::this_thread::sleep_for(std::chrono::milliseconds(1010));
              display.show(half(1000, 1000));
            }),
            "gpufilter: a.png, 0 %\ngpufilter: a.png, 100 %\n");
  for (const ProgressMode mode : {ProgressMode::off, ProgressMode::automatic}) {
    EXPECT_EQ(heard([mode] {
                ProgressDisplay display(mode);
                display.show(half());
                std::this_thread::sleep_for(std::chrono::milliseconds(1010));
                display.show(half());
              }),
              "");
  }
}

TEST(LeftOut, OfOnePictureIsListedAndOfSeveralCounted) {
  EXPECT_EQ(left_out_warning({}), "");
  EXPECT_EQ(left_out_warning({"gamma", "XMP (9 bytes are too many)"}),
            "not carried over: gamma, XMP (9 bytes are too many)");
  EXPECT_EQ(left_out_warning({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}),
            "not carried over: 1, 2, 3, 4, 5, 6, 7, 8, 2 more");
  LeftOutTally tally;
  EXPECT_TRUE(tally.names().empty());
  tally.add({"gamma"});
  tally.add({});
  tally.add({"XMP", "gamma"});
  EXPECT_EQ(tally.names(), (std::vector<std::string>{"gamma (2 pictures)", "XMP (1 picture)"}));
}

TEST(Failure, OnAThreadThatNobodyWatchesEndsTheProgramLikeAnyOther) {
  GPUFILTER_REQUIRE_A_NEW_PROCESS();
  const test::TemporaryFolder folder;
  const test::TemporaryFolder elsewhere;
  const std::string err = elsewhere / "err";
  const auto end_by = [&](auto fail) {
    const int exit_code = test::wait_for_child(test::start_child([&] {
      ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
      std::set_terminate(end_after_failure);
      const AtomicFile file(folder / "out.png");
      std::thread(fail).join();
      return 99;
    }));
    EXPECT_EQ(exit_code, 1);
    EXPECT_EQ(test::names_in(folder.path()), std::vector<std::string>{});
    return test::read_file(err);
  };
  EXPECT_EQ(end_by([] { throw std::bad_alloc(); }),
            "gpufilter: not enough memory for this picture\n");
  EXPECT_EQ(
      end_by([] {
        throw std::runtime_error("pthread_create has failed: Resource temporarily unavailable");
      }),
      "gpufilter: a thread cannot be started, because a limit on processes or memory is reached; "
      "try --threads 1\n");
}

}  // namespace
}  // namespace gpufilter
