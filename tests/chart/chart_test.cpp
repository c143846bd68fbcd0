// Charts and their axes, and drawn histograms, as far as the SVG shows them.

#include "chart/histogram_plot.hpp"
#include "chart/svg_chart.hpp"
#include "support/document_checks.hpp"
#include "support/picture_counting.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::lab {
namespace {

using test::count_of;

std::vector<std::string> labels(const Scale& scale) {
  std::vector<std::string> texts;
  for (const Scale::Tick& tick : scale.ticks())
    texts.push_back(tick.label);
  return texts;
}

TEST(ChartScale, HasRoundTicksAndPlacesValuesBetweenItsEnds) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels(Scale(0, 100, Scaling::linear)), (Labels{"0", "20", "40", "60", "80", "100"}));
  EXPECT_EQ(labels(Scale(0, 2.1, Scaling::linear)), (Labels{"0.0", "0.5", "1.0", "1.5", "2.0"}));
  EXPECT_EQ(labels(Scale(0.5, 2000, Scaling::logarithmic)), (Labels{"1", "10", "100", "1000"}));
  EXPECT_EQ(labels(Scale(3, 25, Scaling::logarithmic)), (Labels{"5", "10", "20"}));
  EXPECT_DOUBLE_EQ(Scale(2, 6, Scaling::linear).place(3), 0.25);
  EXPECT_DOUBLE_EQ(Scale(1, 100, Scaling::logarithmic).place(10), 0.5);
  EXPECT_DOUBLE_EQ(Scale(7, 7, Scaling::linear).place(7), 0.5) << "equal ends";
  EXPECT_DOUBLE_EQ(Scale(7, 7, Scaling::logarithmic).place(7), 0.5);
}

TEST(ShortNumber, KeepsTwoDigitsAndOneDecimal) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.00002), "2.0e-05");
  EXPECT_EQ(short_number(0.04), "0.040");
  EXPECT_EQ(short_number(1), "1.0");
  EXPECT_EQ(short_number(9.94), "9.9");
  EXPECT_EQ(short_number(9.96), "10.0");
  EXPECT_EQ(short_number(16), "16.0");
  EXPECT_EQ(short_number(99.94), "99.9");
  EXPECT_EQ(short_number(99.96), "100");
  EXPECT_EQ(short_number(1234.5), "1234");
}

TEST(LineChart, HasALabelForEachLineAndNoneCoversAnother) {
  LineChart chart{{"Title <1>", "sub & title", "x", "y"}, {}};
  for (int i = 0; i < 14; ++i)
    chart.lines.push_back({"line " + std::to_string(i) + ".", {{128, 5}, {256, 5}}, i % 2 == 1});
  const std::string svg = draw(chart);
  EXPECT_EQ(test::objection_to_svg(svg), "");
  std::vector<double> heights;
  for (int i = 0; i < 14; ++i) {
    const std::size_t label = svg.find(">line " + std::to_string(i) + ".<");
    ASSERT_NE(label, std::string::npos);
    heights.push_back(std::stod(svg.substr(svg.rfind(" y=\"", label) + 4)));
  }
  std::sort(heights.begin(), heights.end());
  for (std::size_t i = 1; i < heights.size(); ++i)
    EXPECT_GE(heights[i] - heights[i - 1], 19.9);
  EXPECT_GE(heights.front(), 90);
  EXPECT_LE(heights.back(), 560);
  EXPECT_EQ(count_of(svg, " dashed\""), 7U);
  EXPECT_EQ(count_of(svg, ">128<") + count_of(svg, ">256<"), 2U) << "the sizes are the ticks";
}

TEST(BarChart, BarsAreAsLongAsTheirValues) {
  BarChart chart{
      {"t", "s", "GB/s", ""}, {"processor", "device"}, {}, "floor", Ceiling{400, "copy"}};
  chart.bars = {{"a", 100, 0, 50}, {"b", 200, 1, {}}};
  const std::string svg = draw(chart);
  EXPECT_EQ(test::objection_to_svg(svg), "");
  const auto width_of_bar = [&svg](const char* label) {
    const std::size_t bar = svg.find("<rect", svg.find(std::string(">") + label + "<"));
    return std::stod(svg.substr(svg.find("width=\"", bar) + 7));
  };
  EXPECT_NEAR(width_of_bar("b"), 2 * width_of_bar("a"), 0.2);
  for (const char* text : {">processor<", ">device<", ">copy 400<", ">100<", ">200<"})
    EXPECT_EQ(count_of(svg, text) > 0, true) << text;
  EXPECT_EQ(count_of(svg, "class=\"mark\""), 2U) << "the mark of a bar, and that of the legend";
}

TEST(BarChart, TheNumberOfTheLongestBarIsInsideThePanel) {
  for (const auto& [in_page, label] : test::each_of(
           std::array{false, true},
           std::array{"decode", "a long label of a bar", "second pass: a longer label of a bar"})) {
    BarChart chart{{"t", "s", "GB/s", ""}, {"device"}, {{label, 123.4, 0, {}}}, "", {}};
    chart.in_page = in_page;
    const std::string svg = draw(chart);
    const auto attribute = [&svg](const std::string& name, std::size_t from) {
      return std::stod(svg.substr(svg.find(" " + name + "=\"", from) + name.size() + 3));
    };
    const std::size_t panel = svg.find("class=\"panel\"");
    const double end = attribute("x", panel) + attribute("width", panel);
    const std::size_t number = svg.rfind("<text", svg.find(">123<"));
    constexpr double three_digits = 30;
    EXPECT_LT(attribute("x", number) + three_digits, end) << label;
    // Numbers of the axis are centred, the last may be at the end.
    EXPECT_LE(end + three_digits / 2, attribute("width", svg.find("<svg"))) << label;
  }
}

TEST(BarChart, TheLegendListsOnlyGroupsWithBars) {
  const BarChart chart{
      {"t", "s", "ms", ""}, {"files", "stages", "device"}, {{"blur", 3, 1, {}}}, "", {}};
  const std::string svg = draw(chart);
  EXPECT_EQ(count_of(svg, ">stages</text>"), 1U);
  EXPECT_EQ(count_of(svg, ">files</text>") + count_of(svg, ">device</text>"), 0U);
}

TEST(BarChart, InAPageHasNoTitlesOfItsOwn) {
  BarChart chart{
      {"Title", "subtitle", "ms", ""}, {"files", "stages"}, {{"blur", 3, 1, {}}}, "", {}};
  EXPECT_EQ(count_of(draw(chart), ">Title</text>"), 1U);
  chart.in_page = true;
  const std::string svg = draw(chart);
  EXPECT_EQ(test::objection_to_svg(svg), "");
  EXPECT_EQ(count_of(svg, ">Title</text>"), 0U);
  EXPECT_EQ(count_of(svg, "<title>Title</title>"), 1U) << "for screen readers";
  EXPECT_EQ(count_of(svg, ">stages</text>"), 1U);
}

// The drawn histogram, as far as its SVG shows it.

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

TEST(HistogramPlot, IsWellFormedAndShowsEachChannelInItsPlace) {
  for (const auto& [format, size] :
       test::each_of(test::all_formats(), test::Sizes{{1, 1}, {64, 64}})) {
    const std::string svg = plot_of(test::random_image(size, format, 1));
    EXPECT_EQ(test::objection_to_svg(svg), "");
    for (const std::string& name : channel_names(format))
      EXPECT_EQ(count_of(svg, ">" + name + "<"), 1U) << name;
    const auto colors = static_cast<std::size_t>(format.color_channels());
    EXPECT_EQ(count_of(svg, " faint\""), colors) << "an area for each colour";
    EXPECT_TRUE(test::contains(svg, "prefers-color-scheme:dark"));
  }
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

TEST(HistogramSketch, IsSmallAndGoesUpWhereTheSamplesAre) {
  for (const auto& [format, size] :
       test::each_of(test::all_formats(), test::Sizes{{1, 1}, {64, 64}})) {
    const std::string svg = sketch_of(test::random_image(size, format, 1));
    EXPECT_EQ(test::objection_to_svg(svg), "");
    EXPECT_EQ(count_of(svg, "<path"), static_cast<std::size_t>(format.channels));
    EXPECT_LT(svg.size(), 200U + 450U * static_cast<std::size_t>(format.channels));
  }
  EXPECT_EQ(count_of(sketch_of(flat({1, 8}, {9}), "<&>"), "aria-label=\"&lt;&amp;&gt;\""), 1U);
  // All samples are 121: point 30 of 64 is at the top, 7 (of 100) below it, all others are at the
  // bottom.
  std::string path = "M0 100l";
  for (int point = 1; point < 64; ++point)
    path += point == 30 ? " 1-93" : point == 31 ? " 1 93" : point == 1 ? "1 0" : " 1 0";
  EXPECT_EQ(count_of(sketch_of(flat({1, 8}, {121})), "d=\"" + path + "V100H0Z\""), 1U);
}

}  // namespace
}  // namespace gpufilter::lab
