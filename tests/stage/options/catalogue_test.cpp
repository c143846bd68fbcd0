#include "stage/options/catalogue.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/stage_samples.hpp"
#include "stages/window/blur.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

TEST(Catalogue, EveryOptionIsDeclaredOnce) {
  std::set<std::string> options;
  std::map<std::string, StageParameter> parameters;
  for (const StageKind& kind : stage_catalogue()) {
    EXPECT_TRUE(options.insert(kind.option).second) << kind.option;
    for (const StageListing& listing : kind.listings)
      EXPECT_TRUE(options.insert(listing.option).second) << listing.option;
    std::set<std::string> own;
    for (const StageParameter& parameter : kind.parameters) {
      EXPECT_TRUE(own.insert(parameter.option).second) << kind.option << " " << parameter.option;
      // A default may suit one kind only: ONNX asks for another border than filters do.
      StageParameter meaning = parameter;
      meaning.default_value.clear();
      const auto [known, is_first] = parameters.emplace(parameter.option, meaning);
      EXPECT_TRUE(is_first || known->second == meaning) << parameter.option << " differs";
    }
  }
  for (const auto& [option, parameter] : parameters)
    EXPECT_EQ(options.count(option), 0U) << option << " is a stage or a listing, too";
}

TEST(Catalogue, DefaultValuesAreOfTheirType) {
  for (const StageKind& kind : stage_catalogue()) {
    for (const StageParameter& parameter : kind.parameters) {
      EXPECT_NO_THROW(OptionValues().set(parameter.option, parameter.type, parameter.default_value))
          << parameter.option;
      EXPECT_FALSE(parameter.help.empty()) << parameter.option;
    }
  }
}

// Estimates need a time for every operation, and the same time for what is measured as the same.
TEST(Catalogue, EveryStageSaysHowLongItTakes) {
  std::map<std::string, std::pair<double, double>> seconds;
  for (const StageKind& kind : stage_catalogue()) {
    for (const lab::StageSample& sample : lab::samples_of(kind, false)) {
      for (const int channels : {3, 4}) {
        for (const int depth : {8, 16}) {
          const PixelFormat format{channels, depth};
          PictureShape source{{640, 480}, format};
          const Lowered lowered = sample.stage->lower({.shape = source});
          std::vector<StageCost> costs;
          if (lowered.demand) costs.push_back(lowered.demand->cost);
          for (const auto& step : lowered.steps) {
            costs.push_back(step->cost(source.format));
            source = step->output(source);
          }
          for (const StageCost& cost : costs) {
            SCOPED_TRACE(cost.rate.kind);
            EXPECT_GT(cost.operations_a_pixel, 0);
            EXPECT_GT(cost.rate.device, 0);
            EXPECT_GT(cost.rate.host, cost.rate.device);
            EXPECT_LT(cost.rate.host, 1e-7);
            const std::pair both(cost.rate.host, cost.rate.device);
            EXPECT_EQ(seconds.emplace(cost.rate.kind, both).first->second, both);
          }
        }
      }
    }
  }
  EXPECT_EQ(seconds.count("blur 8"), 1U);
}

// Short lists show only the first sentence.
std::string first_sentence(const std::string& help) {
  return help.substr(0, help.find(". "));
}

TEST(Catalogue, EveryStageExplainsItself) {
  for (const StageKind& kind : stage_catalogue()) {
    SCOPED_TRACE(kind.option);
    EXPECT_LE(first_sentence(kind.help).size(), 36U) << kind.help;
    EXPECT_TRUE(kind.help.ends_with('.')) << kind.help;
    EXPECT_FALSE(kind.formula.empty());
    EXPECT_FALSE(kind.edges.empty());
    EXPECT_FALSE(kind.alpha.empty());
    EXPECT_FALSE(kind.examples.empty());
    for (const std::string& example : kind.examples)
      EXPECT_TRUE(test::contains((example + " "), " " + kind.option + " ")) << example;
    for (const StageParameter& parameter : kind.parameters)
      EXPECT_TRUE(parameter.help.ends_with('.')) << parameter.help;
  }
}

TEST(Catalogue, EveryValueHasAMeaning) {
  for (const StageKind& kind : stage_catalogue()) {
    const bool is_clear = std::holds_alternative<FileName>(kind.type) ||
                          std::holds_alternative<NumberIn>(kind.type) ||
                          std::holds_alternative<NoValue>(kind.type);
    if (is_clear) continue;
    const auto meanings = value_meanings(kind.type);
    EXPECT_FALSE(meanings.empty()) << kind.option;
    for (const auto& [form, help] : meanings)
      EXPECT_FALSE(help.empty()) << kind.option << " " << form;
  }
}

TEST(StageKind, TakesItsParameters) {
  const StageKind blur = blur_stage_kind();
  EXPECT_TRUE(blur.takes("tiled", "--tile"));
  EXPECT_FALSE(blur.takes("naive", "--tile"));
  EXPECT_TRUE(blur.takes("naive", "--border"));
  EXPECT_FALSE(blur.takes("naive", "--blur"));
  EXPECT_FALSE(blur.takes("naive", "--sharpness"));
}

TEST(StageKind, MakesStagesFromDefaultsAndFromWhatIsGiven) {
  const StageKind blur = blur_stage_kind();
  EXPECT_EQ(blur.make("auto")->key(), make_blur({})->key());
  EXPECT_EQ(blur.make("auto", {{"--border", "wrap"}, {"--alpha", "independent"}})->key(),
            make_blur({.border = Border::wrap, .alpha = AlphaMode::independent})->key());
  EXPECT_NO_THROW(static_cast<void>(blur.make("tiled", {{"--tile", "32"}})));
}

TEST(StageKind, RefusesWhatItDoesNotTake) {
  const StageKind blur = blur_stage_kind();
  EXPECT_THROW(static_cast<void>(blur.make("tield")), UsageError);
  EXPECT_THROW(static_cast<void>(blur.make("tiled", {{"--tile", "12"}})), UsageError);
  EXPECT_THROW(static_cast<void>(blur.make("naive", {{"--tile", "8"}})), UsageError);
  EXPECT_THROW(static_cast<void>(blur.make("auto", {{"--sharpness", "8"}})), UsageError);
}

}  // namespace
}  // namespace gpufilter
