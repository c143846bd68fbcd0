#include "pipeline/execute/band_feed.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

// Expects the picture's rows, by row numbers modulo the height.
void expect_window(const std::shared_ptr<const Image>& found, const RowRange& window,
                   const Image& image) {
  ASSERT_TRUE(found);
  ASSERT_EQ(found->row_range(), window);
  const int height = image.size().height;
  for (int y = window.begin; y < window.end; ++y) {
    const int row = (y % height + height) % height;
    EXPECT_TRUE(
        test::same_pixels(found->rows().part({y, y + 1}), image.rows().part({row, row + 1})))
        << "row " << y;
  }
}

// Read, in memory, or pushed: every band's window is the same.
void expect_windows(int height, std::size_t stages, int band_rows, Border border) {
  SCOPED_TRACE(::testing::Message() << height << " rows, " << stages << " stages, bands of "
                                    << band_rows << (border == Border::wrap ? ", wrapping" : ""));
  const Image image = test::random_image({37, height}, {3, 8}, 1);
  const Plan plan =
      make_plan({image.size(), image.format()}, StageChain(stages, make_blur({.border = border})),
                {.band_rows = band_rows});
  // It only moves forward: a row requested twice would be the wrong one.
  test::ImageReader reader(image);
  ImagePool pool;
  BandFeed read(reader, plan, pool);
  BandFeed in_memory(image.rows(), plan, pool);
  for (const RowRange& band : plan.bands()) {
    const RowRange window = plan.windows(band).front();
    expect_window(read.next(band), window, image);
    expect_window(in_memory.next(band), window, image);
  }
  for (const int rows : {1, 3, 100}) {
    BandFeed pushed(plan, pool);
    const std::vector<RowRange> bands = plan.bands();
    std::size_t next = 0;
    for (int y = 0; y < height; y += rows) {
      const ConstRows more = image.rows().part({y, std::min(y + rows, height)});
      while (next < bands.size()) {
        const auto found = pushed.next(bands[next], more);
        if (!found) break;
        expect_window(found, plan.windows(bands[next++]).front(), image);
      }
    }
    EXPECT_EQ(next, bands.size()) << rows;
  }
}

TEST(BandFeed, YieldsEveryWindowReadingEachRowOnce) {
  for (const int height : {1, 2, 9, 30}) {
    for (const std::size_t stages : {0U, 1U, 3U}) {
      for (const int band_rows : {1, 2, 4, 7, 100})
        expect_windows(height, stages, band_rows, Border::replicate);
    }
  }
}

TEST(BandFeed, WrapsRoundAsOftenAsItTakes) {
  for (const int height : {1, 2, 9, 30}) {
    for (const std::size_t stages : {1U, 3U, 5U}) {
      for (const int band_rows : {1, 4, 100})
        expect_windows(height, stages, band_rows, Border::wrap);
    }
  }
}

}  // namespace
}  // namespace gpufilter
