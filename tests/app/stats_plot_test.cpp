// The drawn histogram: what can be told from its pixels.
#include <gtest/gtest.h>

#include "app/histogram_plot.hpp"
#include "support/picture_counting.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

Image plot_of(const Image& picture) {
  const auto histograms =
      std::get<Histograms>(test::counted(picture, Quantity::channel_histograms));
  return draw_histograms(histograms, picture.format(), "title", "subtitle");
}

// Pixels of the panel whose colour is mostly `channel`.
int pixels_like(const Image& plot, int channel) {
  int count = 0;
  for (int y = 70; y < 470; ++y) {
    for (int x = 76; x < 844; ++x) {
      const std::uint32_t here = test::sample_at(plot, x, y, channel);
      const std::uint32_t others = test::sample_at(plot, x, y, (channel + 1) % 3) +
                                   test::sample_at(plot, x, y, (channel + 2) % 3);
      if (here > 100 && here > others) ++count;
    }
  }
  return count;
}

Image flat(const PixelFormat& format, std::initializer_list<std::uint32_t> samples) {
  Image image({4, 3}, format);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 4; ++x) {
      int channel = 0;
      for (const std::uint32_t sample : samples)
        test::set_sample(image, x, y, channel++, sample);
    }
  }
  return image;
}

TEST(HistogramPlot, HasTheSameShapeForEveryFormat) {
  for (const PixelFormat& format : test::all_formats()) {
    for (const ImageSize size : {ImageSize{1, 1}, {64, 64}}) {
      const Image plot = plot_of(test::random_image(size, format, 1));
      EXPECT_TRUE(plot.size() == histogram_plot_size);
      EXPECT_TRUE((plot.format() == PixelFormat{3, 8}));
    }
  }
}

TEST(HistogramPlot, ShowsEachChannelInItsColourAndPlace) {
  for (const int depth : {8, 16}) {
    const std::uint32_t step = depth == 8 ? 1 : 257;
    const Image plot = plot_of(flat({3, depth}, {40 * step, 120 * step, 200 * step}));
    for (int channel = 0; channel < 3; ++channel) {
      EXPECT_GT(pixels_like(plot, channel), 300) << "channel " << channel;
      const int x = 76 + 3 * (40 + 80 * channel) + 1;
      EXPECT_GT(test::sample_at(plot, x, 300, channel), 120U) << "channel " << channel;
      EXPECT_LT(test::sample_at(plot, x + 30, 300, channel), 60U);
    }
  }
}

TEST(HistogramPlot, ShowsOverlapsAsMixtures) {
  const Image plot = plot_of(flat({3, 8}, {100, 100, 200}));
  const int x = 76 + 3 * 100 + 1;
  EXPECT_GT(test::sample_at(plot, x - 1, 300, 1), 100U);
  const Image grey = plot_of(flat({1, 8}, {100}));
  EXPECT_GT(test::sample_at(grey, x, 300, 0), 120U);
  EXPECT_EQ(pixels_like(grey, 0) + pixels_like(grey, 1) + pixels_like(grey, 2), 0);
}

TEST(HistogramPlot, ADominantValueLeavesTheOthersVisible) {
  // Half of the pixels black, the others spread evenly.
  Image image({64, 64}, {1, 8});
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      const int i = y * 64 + x;
      test::set_sample(image, x, y, 0, i % 2 == 0 ? 0U : static_cast<std::uint32_t>(i / 16));
    }
  }
  const Image plot = plot_of(image);
  const int middle = 76 + 3 * 128;
  EXPECT_GT(test::sample_at(plot, middle, 300, 0), 100U) << "spread values fill half the panel";
  EXPECT_GT(test::sample_at(plot, 77, 55, 0), 150U) << "the cut column is marked";
  EXPECT_LT(test::sample_at(plot, middle, 55, 0), 60U);
}

TEST(HistogramPlot, LongAndForeignNamesFit) {
  const auto histograms =
      std::get<Histograms>(test::counted(flat({1, 8}, {1}), Quantity::channel_histograms));
  const Image plot = draw_histograms(histograms, {1, 8}, std::string(5000, '\xe9'), "");
  for (int y = 0; y < 50; ++y)
    EXPECT_EQ(test::sample_at(plot, 900, y, 0), test::sample_at(plot, 0, 0, 0));
}

}  // namespace
}  // namespace gpufilter
