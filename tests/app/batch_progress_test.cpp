#include "app/batch_progress.hpp"

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

constexpr Nanoseconds second = 1'000'000'000;

TEST(BatchProgress, SaysOnlyWhatIsKnown) {
  EXPECT_EQ(progress_text({.all_pictures = 20, .all_bytes = 1000}), "0/20 pictures, 0 %");
  EXPECT_EQ(progress_text({}), "0/0 pictures, 100 %");
  // Nothing was filtered: how fast that goes is not known.
  EXPECT_EQ(
      progress_text(
          {.pictures = 5, .all_pictures = 20, .bytes = 999, .all_bytes = 1000, .elapsed = second}),
      "5/20 pictures, 99 %");
}

TEST(BatchProgress, GivesRatesAndWhatIsLeft) {
  BatchState state{.pictures = 5,
                   .all_pictures = 20,
                   .bytes = 500,
                   .all_bytes = 2000,
                   .filtered = 4,
                   .filtered_bytes = 300,
                   .filtered_pixels = 8'000'000,
                   .elapsed = 2 * second};
  EXPECT_EQ(progress_text(state), "5/20 pictures, 25 %, 4.0 Mpx/s, 2.0 pictures/s, 0:10 left");
  state.elapsed = 800 * second;
  EXPECT_EQ(progress_text(state), "5/20 pictures, 25 %, 0.0 Mpx/s, 0.0 pictures/s, 1:06:40 left");
}

TEST(BatchProgress, CountsWhatIsUnderWay) {
  BatchState state{.all_pictures = 2, .bytes_under_way = 500, .all_bytes = 2000, .elapsed = second};
  EXPECT_EQ(progress_text(state), "0/2 pictures, 25 %, 0:03 left");
  state.pictures = 1;
  state.bytes = 600;
  state.filtered = 1;
  state.filtered_bytes = 400;  // and 200 that took no work
  state.filtered_pixels = 3'000'000;
  state.elapsed = 3 * second;
  EXPECT_EQ(progress_text(state), "1/2 pictures, 55 %, 1.0 Mpx/s, 0.3 pictures/s, 0:03 left");
}

TEST(BatchProgress, DrawsABar) {
  EXPECT_EQ(progress_bar({.all_pictures = 2, .bytes = 1, .all_bytes = 2}),
            "[##########----------] 0/2 pictures, 50 %");
  EXPECT_EQ(progress_bar({.pictures = 2, .all_pictures = 2, .bytes = 2, .all_bytes = 2}),
            "[####################] 2/2 pictures, 100 %");
}

}  // namespace
}  // namespace gpufilter
