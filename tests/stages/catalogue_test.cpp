#include "stages/catalogue.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "stages/blur.hpp"

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
      const auto [known, is_first] = parameters.emplace(parameter.option, parameter);
      EXPECT_TRUE(is_first || known->second == parameter) << parameter.option << " differs";
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
