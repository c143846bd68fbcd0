// Which stage a parameter on the command line belongs to, with stages invented for the test.
#include "app/filter/stage_options.hpp"

#include <gtest/gtest.h>

#include "app/cli/parse.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "stage/border.hpp"
#include "stage/options/shared_parameters.hpp"
#include "support/objection.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

// Reports the values that it was made from.
class Note final : public OneStepStage {
 public:
  explicit Note(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] std::string name() const override { return "note"; }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"note", 1e-9, 1e-9}, 1};
  }
  [[nodiscard]] std::string key() const override { return text_; }

 private:
  std::string text_;
};

// --soft plain or tiled, with --tile only for tiled; --sharp 1 to 9. They share --border.
const std::vector<StageKind>& kinds() {
  static const std::vector<StageKind> list{
      {.option = "--soft",
       .type = OneOf{{{"plain", 0}, {"tiled", 1}}},
       .help = "softer",
       .parameters = {{.option = "--tile",
                       .type = OneOf{{{"8", 8}, {"16", 16}, {"32", 32}}},
                       .default_value = "16",
                       .help = "side of a tile",
                       .only_with = "tiled"},
                      border_parameter()},
       .from_options =
           [](const OptionValues& values) {
             return std::make_shared<Note>(formatted(
                 "soft {} {} {}", values.choice<int>("--soft"), values.choice<int>("--tile"),
                 static_cast<int>(values.choice<Border>("--border"))));
           }},
      {.option = "--sharp",
       .type = NumberIn{1, 9, true},
       .help = "sharper",
       .parameters = {border_parameter(),
                      {.option = "--share",
                       .type = NumberIn{0, 1},
                       .default_value = "0.5",
                       .help = "how much"}},
       .from_options =
           [](const OptionValues& values) {
             return std::make_shared<Note>(formatted(
                 "sharp {} {} {}", values.number<int>("--sharp"), values.number("--share"),
                 static_cast<int>(values.choice<Border>("--border"))));
           }},
      {.option = "--invert",
       .type = FreeText{"HOW"},
       .help = "the other way round",
       .from_options =
           [](const OptionValues& values) {
             return std::make_shared<Note>("invert " + values.text("--invert"));
           }},
  };
  return list;
}

using Notes = std::vector<std::string>;

Notes chain(const std::vector<const char*>& words) {
  std::vector<const char*> arguments{"gpufilter"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  Arguments app("", "gpufilter");
  const StageOptions options(app, kinds());
  static_cast<void>(parse_command_line(app, static_cast<int>(arguments.size()), arguments.data()));
  Notes notes;
  for (const auto& stage : options.chain())
    notes.push_back(stage->key());
  return notes;
}

std::string objection_to_stages(const std::vector<const char*>& words) {
  return test::objection_to([&] { return chain(words); });
}

TEST(StageOptions, StagesKeepTheirOrderAndTheirDefaults) {
  EXPECT_EQ(chain({}), Notes{});
  EXPECT_EQ(chain({"--soft", "plain", "--invert", "all", "--sharp", "3", "--soft=tiled"}),
            (Notes{"soft 0 16 0", "invert all", "sharp 3 0.5 0", "soft 1 16 0"}));
}

TEST(StageOptions, AParameterBelongsToTheStageBeforeIt) {
  EXPECT_EQ(chain({"--soft", "tiled", "--tile", "8", "--soft", "tiled", "--tile=32", "--border",
                   "mirror", "--soft", "tiled"}),
            (Notes{"soft 1 8 0", "soft 1 32 1", "soft 1 16 0"}));
}

TEST(StageOptions, KindsShareAParameter) {
  EXPECT_EQ(chain({"--soft", "plain", "--border", "wrap", "--sharp", "1", "--border", "mirror"}),
            (Notes{"soft 0 16 2", "sharp 1 0.5 1"}));
  EXPECT_EQ(chain({"--sharp", "1", "--border", "mirror", "--soft", "plain"}),
            (Notes{"sharp 1 0.5 1", "soft 0 16 0"}));
}

TEST(StageOptions, BeforeAnyStageItIsTheDefaultOfAllThatTakeIt) {
  EXPECT_EQ(chain({"--border", "wrap", "--soft", "plain", "--invert", "all", "--sharp", "1"}),
            (Notes{"soft 0 16 2", "invert all", "sharp 1 0.5 2"}));
  EXPECT_EQ(
      chain({"--tile", "8", "--share", "1", "--soft", "plain", "--sharp", "1", "--soft", "tiled"}),
      (Notes{"soft 0 16 0", "sharp 1 1 0", "soft 1 8 0"}));
}

TEST(StageOptions, AStagesOwnParameterWinsOverTheDefault) {
  EXPECT_EQ(chain({"--border", "wrap", "--soft", "plain", "--border", "mirror", "--sharp", "1"}),
            (Notes{"soft 0 16 1", "sharp 1 0.5 2"}));
  // A default is accepted even if every stage has its own.
  EXPECT_EQ(chain({"--border", "wrap", "--soft", "plain", "--border", "mirror"}),
            Notes{"soft 0 16 1"});
}

TEST(StageOptions, GivenTwiceForOneStageIsRefused) {
  EXPECT_EQ(
      objection_to_stages({"--soft", "tiled", "--tile", "8", "--border", "wrap", "--tile", "32"}),
      "--tile 8 and --tile 32: --soft tiled takes only one");
  EXPECT_EQ(objection_to_stages({"--soft", "tiled", "--tile", "8", "--tile", "8"}),
            "--tile 8 and --tile 8: --soft tiled takes only one");
  EXPECT_EQ(objection_to_stages({"--border", "wrap", "--border", "mirror", "--soft", "plain"}),
            "--border wrap and --border mirror: only one can be the default for the stages");
}

TEST(StageOptions, AStageThatDoesNotTakeItIsNamed) {
  EXPECT_EQ(objection_to_stages({"--soft", "tiled", "--invert", "all", "--tile", "8"}),
            "--tile 8: --invert all does not take it; it goes after --soft tiled");
  EXPECT_EQ(objection_to_stages({"--soft", "plain", "--tile", "8", "--soft", "tiled"}),
            "--tile 8: --soft plain does not take it; it goes after --soft tiled");
  EXPECT_EQ(objection_to_stages({"--invert", "a\nb", "--border", "wrap"}),
            "--border wrap: --invert a\\nb does not take it; it goes after --soft or --sharp");
}

TEST(StageOptions, ADefaultThatNoStageTakesIsRefused) {
  EXPECT_EQ(objection_to_stages({"--border", "wrap"}),
            "--border wrap: no stage here takes it; it goes with --soft or --sharp");
  EXPECT_EQ(objection_to_stages({"--border", "wrap", "--invert", "all"}),
            "--border wrap: no stage here takes it; it goes with --soft or --sharp");
  EXPECT_EQ(objection_to_stages({"--tile", "8", "--soft", "plain"}),
            "--tile 8: no stage here takes it; it goes with --soft tiled");
}

TEST(StageOptions, ValuesAreChecked) {
  EXPECT_EQ(objection_to_stages({"--soft", "tield"}),
            "--soft tield: unknown; did you mean tiled? (plain, tiled)");
  EXPECT_EQ(objection_to_stages({"--tile", "12", "--soft", "tiled"}),
            "--tile 12: choose 8, 16 or 32");
  EXPECT_EQ(objection_to_stages({"--sharp", "10"}), "--sharp 10: a whole number from 1 to 9");
  EXPECT_EQ(objection_to_stages({"--sharp", "-1"}), "--sharp -1: a whole number from 1 to 9");
  EXPECT_EQ(objection_to_stages({"--sharp", "1", "--share", "1.5"}),
            "--share 1.5: a number from 0 to 1");
}

TEST(StageOptions, TheNextOptionIsNoValue) {
  EXPECT_EQ(objection_to_stages({"--soft", "--tile", "8"}), "--soft needs a value: plain or tiled");
  EXPECT_EQ(objection_to_stages({"--soft", "--tile=8"}), "--soft needs a value: plain or tiled");
  EXPECT_EQ(objection_to_stages({"--invert", "-h"}), "--invert needs a value: HOW");
  EXPECT_EQ(objection_to_stages({"--soft", ""}), "--soft needs a value: plain or tiled");
  EXPECT_EQ(chain({"--invert", "-1 0"}), Notes{"invert -1 0"});
}

TEST(StageOptions, TheHelpComesFromTheDeclarations) {
  Arguments app("", "gpufilter");
  const StageOptions options(app, kinds());
  const std::string help = command_page(app);
  test::expect_parts(
      help, {"--soft plain|tiled", "--tile 8|16|32 [16]", "side of a tile With --soft tiled.",
             "--sharp 1..9", "--share 0..1 [0.5]", "--invert HOW", "With --soft or --sharp.",
             "mirror: the reflection"});
  EXPECT_EQ(help.find("--border"), help.rfind("--border")) << "listed once\n" << help;
}

}  // namespace
}  // namespace gpufilter
