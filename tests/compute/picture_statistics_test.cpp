// Statistics of pictures: the processor with each instruction set against one sample at a time, for
// any split into bands.
#include "compute/picture_statistics.hpp"

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "support/instruction_sets.hpp"
#include "support/picture_counting.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::counted;
using test::quantities;

PictureStatistics by_bands(const Image& image, Quantity quantity, int band_rows) {
  PictureStatistics statistics = no_statistics(image.format(), quantity);
  for (int y = 0; y < image.size().height; y += band_rows) {
    add_pixels(statistics, image.rows().part({y, std::min(y + band_rows, image.size().height)}));
  }
  return statistics;
}

TEST(PictureStatistics, EqualTheDefinitionForAnyBands) {
  for (const PixelFormat& format : test::all_formats()) {
    for (const ImageSize size : {ImageSize{1, 1},
                                 {1, 40},
                                 {40, 1},
                                 {15, 17},
                                 {257, 29},
                                 {1023, 2},
                                 {1024, 1},
                                 {2051, 3}}) {
      for (const Image& image :
           {test::random_image(size, format, 1), test::extreme_image(size, format, 2)}) {
        for (const Quantity quantity : quantities) {
          const PictureStatistics expected = counted(image, quantity);
          test::with_each_instruction_set([&] {
            for (const int rows : {1, 7, 1000}) {
              EXPECT_TRUE(by_bands(image, quantity, rows) == expected)
                  << to_string(format) << ", " << size.width << "x" << size.height << ", bands of "
                  << rows << ", quantity " << static_cast<int>(quantity);
            }
          });
        }
      }
    }
  }
}

TEST(PictureStatistics, OfPartsAddUpToTheWhole) {
  const Image image = test::random_image({31, 33}, {4, 16}, 3);
  for (const Quantity quantity : quantities) {
    PictureStatistics sum = no_statistics(image.format(), quantity);
    for (const RowRange part : {RowRange{20, 33}, RowRange{0, 20}}) {
      PictureStatistics statistics = no_statistics(image.format(), quantity);
      add_pixels(statistics, image.rows().part(part));
      add_statistics(sum, statistics);
    }
    EXPECT_TRUE(sum == counted(image, quantity));
    add_statistics(sum, no_statistics(image.format(), quantity));
    EXPECT_TRUE(sum == counted(image, quantity)) << "no pixel changes nothing";
  }
}

// Products that never become 0: of odd samples, and of a single value.
TEST(PictureStatistics, ProductsAreModulo64Bits) {
  for (const PixelFormat& format : test::all_formats()) {
    Image odd = test::random_image({1100, 3}, format, 5);
    Image constant({1100, 3}, format);
    for (const auto [x, y, c] : test::each_sample({1100, 3}, format.channels)) {
      test::set_sample(odd, x, y, c, test::sample_at(odd, x, y, c) | 1U);
      test::set_sample(constant, x, y, c, format.max_sample() - 2 * static_cast<unsigned>(c));
    }
    for (const Image* image : {&odd, &constant}) {
      EXPECT_TRUE(by_bands(*image, Quantity::totals, 2) == counted(*image, Quantity::totals))
          << to_string(format);
    }
  }
}

TEST(PictureStatistics, LumaRoundsToTheNearest) {
  for (const int depth : {8, 16}) {
    Image image({1, 1}, {3, depth});
    const std::uint32_t max = image.format().max_sample();
    const auto luma_of = [&](std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
      test::set_sample(image, 0, 0, 0, red);
      test::set_sample(image, 0, 0, 1, green);
      test::set_sample(image, 0, 0, 2, blue);
      PictureStatistics statistics = no_statistics(image.format(), Quantity::luma_histogram);
      add_pixels(statistics, image.rows());
      const auto& histogram = std::get<Histogram>(statistics);
      return std::find(histogram.begin(), histogram.end(), 1U) - histogram.begin();
    };
    EXPECT_EQ(luma_of(max, max, max), max);
    EXPECT_EQ(luma_of(0, 0, 0), 0);
    EXPECT_EQ(luma_of(0, 0, 6), 0);   // 4332
    EXPECT_EQ(luma_of(0, 0, 7), 1);   // 5054
    EXPECT_EQ(luma_of(1, 0, 0), 0);   // 2126
    EXPECT_EQ(luma_of(0, 1, 0), 1);   // 7152
    EXPECT_EQ(luma_of(10, 0, 5), 2);  // 24870
    EXPECT_EQ(luma_of(7, 0, 14), 2);  // 24990
    EXPECT_EQ(luma_of(5, 2, 1), 3);   // 25656
  }
}

TEST(PictureStatistics, FollowFromTheHistogram) {
  for (const PixelFormat& format : test::all_formats()) {
    const Image image = test::random_image({61, 37}, format, 4);
    const auto totals = std::get<PictureTotals>(counted(image, Quantity::totals));
    const auto histograms = std::get<Histograms>(counted(image, Quantity::channel_histograms));
    for (std::size_t c = 0; c < totals.channels.size(); ++c) {
      EXPECT_TRUE(totals_of(histograms.channels[c]) == totals.channels[c]) << to_string(format);
    }
  }
  EXPECT_TRUE(totals_of(Histogram(256, 0)) == ChannelTotals{});
}

TEST(PictureStatistics, SumsBeyond64BitsAreAnError) {
  PictureTotals most{1, {ChannelTotals{}}};
  most.channels[0].sum_of_squares = UINT64_MAX - 65535;
  PictureStatistics totals = most;
  Image image({1, 1}, {1, 16});
  test::set_sample(image, 0, 0, 0, 255);
  add_pixels(totals, image.rows());  // 65025
  test::set_sample(image, 0, 0, 0, 23);
  EXPECT_THROW(add_pixels(totals, image.rows()), std::overflow_error);

  PictureStatistics counts = Histogram(256, UINT64_MAX);
  EXPECT_THROW(add_statistics(counts, Histogram(256, 1)), std::overflow_error);
}

}  // namespace
}  // namespace gpufilter
