// The drawn histogram, as far as its SVG shows it.
#include <gtest/gtest.h>

#include "chart/histogram_plot.hpp"
#include "support/picture_counting.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"
#include "support/svg.hpp"
#include "support/texts.hpp"

namespace gpufilter::lab {
namespace {

using test::count_of;

std::string plot_of(const Image& picture, const std::string& title = "title") {
  const auto histograms =
      std::get<Histograms>(test::counted(picture, Quantity::channel_histograms));
  return draw_histograms(histograms, picture.format(), title, "subtitle");
}

Image flat(const PixelFormat& format, std::initializer_list<std::uint32_t> samples) {
  Image image({4, 3}, format);
  for (const auto [x, y] : test::each_pixel({4, 3})) {
    int channel = 0;
    for (const std::uint32_t sample : samples)
      test::set_sample(image, x, y, channel++, sample);
  }
  return image;
}

TEST(HistogramPlot, IsWellFormedForEveryFormat) {
  for (const PixelFormat& format : test::all_formats()) {
    for (const ImageSize size : {ImageSize{1, 1}, {64, 64}}) {
      const std::string svg = plot_of(test::random_image(size, format, 1));
      EXPECT_EQ(test::objection_to_svg(svg), "");
      for (const std::string& name : channel_names(format))
        EXPECT_EQ(count_of(svg, ">" + name + "<"), 1U) << name;
      const auto colors = static_cast<std::size_t>(format.color_channels());
      EXPECT_EQ(count_of(svg, " faint\""), colors) << "an area for each colour";
      EXPECT_TRUE(test::contains(svg, "prefers-color-scheme:dark"));
    }
  }
}

TEST(HistogramPlot, ShowsEachChannelInItsColourAndPlace) {
  for (const int depth : {8, 16}) {
    const std::uint32_t step = depth == 8 ? 1 : 257;
    const std::string svg = plot_of(flat({3, depth}, {40 * step, 120 * step, 200 * step}));
    // Each curve leaves the bottom (y 472.0) only at its value; the peak is 1 / 1.08 of 400 high.
    for (const auto& [look, column] : {std::pair{"s1", 40}, {"s2", 120}, {"s0", 200}}) {
      const std::size_t curve = svg.find(std::string("class=\"curve ") + look);
      ASSERT_NE(curve, std::string::npos) << look;
      const std::string path = svg.substr(curve, svg.find("/>", curve) - curve);
      char peak[32];
      std::snprintf(peak, sizeof peak, "L%.1f %.1f", 76 + (column + 0.5) * 3, 472 - 400 / 1.08);
      EXPECT_EQ(count_of(path, peak), 1U) << path.substr(0, 60) << " lacks " << peak;
      EXPECT_EQ(count_of(path, " 472.0"), 255U) << look;
    }
  }
}

TEST(HistogramPlot, ADominantValueLeavesTheOthersVisible) {
  // Half of the pixels black, the others spread evenly.
  Image image({64, 64}, {1, 8});
  for (const auto [x, y] : test::each_pixel({64, 64})) {
    const int i = y * 64 + x;
    test::set_sample(image, x, y, 0, i % 2 == 0 ? 0U : static_cast<std::uint32_t>(i / 16));
  }
  const std::string svg = plot_of(image);
  EXPECT_EQ(count_of(svg, "higher than shown"), 1U);
  EXPECT_EQ(count_of(svg, "<path class=\"f7\""), 1U) << "the cut column is marked";
  EXPECT_EQ(count_of(plot_of(flat({1, 8}, {9})), "higher than shown"), 0U);
}

TEST(HistogramPlot, LongAndForeignNamesFit) {
  const std::string svg = plot_of(flat({1, 8}, {1}), std::string(5000, '\xe9') + "<&>\".png");
  EXPECT_EQ(test::objection_to_svg(svg), "");
  EXPECT_TRUE(test::contains(svg, "&lt;&amp;&gt;&quot;.png</text>"));
  EXPECT_EQ(svg.find('\xe9'), std::string::npos) << "only UTF-8";
  const std::size_t title = svg.find("class=\"title\" x=");
  EXPECT_LT(svg.find("</text>", title) - title, 200U);
}

std::string sketch_of(const Image& picture, const std::string& label = "label") {
  const auto histograms =
      std::get<Histograms>(test::counted(picture, Quantity::channel_histograms));
  return sketch_histograms(histograms, picture.format(), label);
}

TEST(HistogramSketch, IsSmallAndWellFormedForEveryFormat) {
  for (const PixelFormat& format : test::all_formats()) {
    for (const ImageSize size : {ImageSize{1, 1}, {64, 64}}) {
      const std::string svg = sketch_of(test::random_image(size, format, 1));
      EXPECT_EQ(test::objection_to_svg(svg), "");
      EXPECT_EQ(count_of(svg, "<path"), static_cast<std::size_t>(format.channels));
      EXPECT_LT(svg.size(), 200U + 450U * static_cast<std::size_t>(format.channels));
    }
  }
  EXPECT_EQ(count_of(sketch_of(flat({1, 8}, {9}), "<&>"), "aria-label=\"&lt;&amp;&gt;\""), 1U);
}

TEST(HistogramSketch, GoesUpWhereTheSamplesAre) {
  // All samples are 121: point 30 of 64 is at the top, 7 (of 100) below it, all others are at the
  // bottom.
  std::string path = "M0 100l";
  for (int point = 1; point < 64; ++point)
    path += point == 30 ? " 1-93" : point == 31 ? " 1 93" : point == 1 ? "1 0" : " 1 0";
  EXPECT_EQ(count_of(sketch_of(flat({1, 8}, {121})), "d=\"" + path + "V100H0Z\""), 1U);
}

}  // namespace
}  // namespace gpufilter::lab
