// Charts and their axes, as far as the SVG shows them.
#include "chart/svg_chart.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/svg.hpp"

namespace gpufilter::lab {
namespace {

using test::count_of;

std::vector<std::string> labels(const Scale& scale) {
  std::vector<std::string> texts;
  for (const Scale::Tick& tick : scale.ticks())
    texts.push_back(tick.label);
  return texts;
}

TEST(ChartScale, HasRoundTicks) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels(Scale(0, 100, Scaling::linear)), (Labels{"0", "20", "40", "60", "80", "100"}));
  EXPECT_EQ(labels(Scale(0, 2.1, Scaling::linear)), (Labels{"0.0", "0.5", "1.0", "1.5", "2.0"}));
  EXPECT_EQ(labels(Scale(0.5, 2000, Scaling::logarithmic)), (Labels{"1", "10", "100", "1000"}));
  EXPECT_EQ(labels(Scale(3, 25, Scaling::logarithmic)), (Labels{"5", "10", "20"}));
}

TEST(ChartScale, PlacesValuesBetweenItsEnds) {
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
  for (const bool in_page : {false, true}) {
    for (const char* label :
         {"decode", "a long label of a bar", "second pass: a longer label of a bar"}) {
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

}  // namespace
}  // namespace gpufilter::lab
