// Stages in words, as types, and their descriptions.

#include <gpufilter/gpufilter.hpp>

#include "support/testing.hpp"

namespace gpufilter {
namespace {

std::string text(const std::vector<StageUse>& stages) {
  std::string all;
  for (const StageUse& stage : stages) {
    all += stage.name + "(" + stage.value;
    for (const auto& [name, value] : stage.parameters)
      all.append(" ").append(name).append("=").append(value);
    all += ")";
  }
  return all;
}

std::string complaint(const std::string& words) {
  return test::objection_to([&] { return parse_stages(words); }, "");
}

TEST(StageWords, AreThoseOfTheCommandLine) {
  EXPECT_EQ(text(parse_stages("")), "");
  EXPECT_EQ(text(parse_stages("--blur auto --color sepia=0.5 --gray")),
            "blur(auto)color(sepia=0.5)gray()");
  EXPECT_EQ(text(parse_stages("--border mirror --blur tiled --tile 8 --median=2 --border wrap")),
            "blur(tiled border=mirror tile=8)median(2 border=wrap)");
  EXPECT_EQ(text(parse_stages("--convolve '1 2 1' --hue -30")), "convolve(1 2 1)hue(-30)");
  EXPECT_EQ(text(parse_stages(std::vector<std::string>{"--color", "1 0 0; 0 1 0; 0 0 1"})),
            "color(1 0 0; 0 1 0; 0 0 1)");
  EXPECT_EQ(complaint("--blr auto"),
            "--blr: neither a stage nor a parameter of one; did you mean --blur?");
  EXPECT_EQ(complaint("auto"), "auto: neither a stage nor a parameter of one");
  EXPECT_EQ(complaint("--quality 80"),
            "--quality: an option of outputs, not a stage; the functions that write them take it "
            "as an argument");
  EXPECT_EQ(complaint("--blur"), "--blur needs a value: naive, tiled or auto");
  EXPECT_EQ(complaint("--blur --gray"), "--blur needs a value: naive, tiled or auto");
  EXPECT_EQ(complaint("--median 99"), "--median 99: a whole number from 1 to 31");
  EXPECT_EQ(
      complaint("--gray --border wrap"),
      "--border wrap: --gray does not take it; it goes after --blur, --gaussian, --sharpen, "
      "--median, --dilate, --erode, --open, --close, --edges, --denoise, --convolve or --net");
  EXPECT_EQ(complaint("--gray=1"), "--gray 1: the option takes no value");
  EXPECT_EQ(complaint("--color 'a"), "stages:1: the quote ' is not closed");
}

TEST(StageWords, MayComeFromRecipes) {
  const test::TemporaryFolder folder;
  const std::string recipe = folder / "web.recipe";
  test::write_file(recipe, "--resize 800x\n--sharpen 0.5  # crisp\n");
  EXPECT_EQ(text(parse_stages("--gray @" + recipe)), "gray()resize(800x)sharpen(0.5)");
  test::write_file(recipe, "--resize 800x\n--sharpen 50\n");
  EXPECT_EQ(complaint("@" + recipe), recipe + ":2: --sharpen 50: a number from 0 to 10");
}

TEST(StageTypes, StandForTheirText) {
  EXPECT_EQ(text({blur{}, blur{.value = "tiled", .tile = 32}, gaussian{2.5}, gray{},
                  sharpen{1, {}, 3, true}, median{.value = 3, .border = "wrap"}, rotate{90},
                  levels{"5,250"}, gamma{0.1}}),
            "blur(auto)blur(tiled tile=32)gaussian(2.5)gray()sharpen(1 luma-only=yes threshold=3)"
            "median(3 border=wrap)rotate(90)levels(5,250)gamma(0.1)");
}

TEST(StageDescriptions, NameEveryStageWithItsParameters) {
  const auto stages = stage_descriptions();
  EXPECT_GT(stages.size(), 30U);
  EXPECT_EQ(stages[0].name, "blur");
  EXPECT_EQ(stages[0].form, "naive|tiled|auto");
  ASSERT_EQ(stages[0].parameters.size(), 3U);
  EXPECT_EQ(stages[0].parameters[1].name, "border");
  EXPECT_EQ(stages[0].parameters[1].form, "replicate|mirror|wrap|constant");
  EXPECT_EQ(stages[0].parameters[1].default_value, "replicate");
  for (const StageDescription& stage : stages)
    EXPECT_FALSE(stage.help.empty()) << stage.name;
}

}  // namespace
}  // namespace gpufilter
