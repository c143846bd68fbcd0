#include "lab/stage_samples.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace gpufilter::lab {
namespace {

// Otherwise `gpufilter verify` would skip a stage.
TEST(StageSamples, EveryKindOfStageHasSome) {
  for (const StageKind& kind : stage_catalogue()) {
    for (const bool all : {false, true}) {
      const auto samples = samples_of(kind, all);
      ASSERT_FALSE(samples.empty()) << kind.option;
      EXPECT_TRUE(samples.front().has_defaults);
      std::set<std::string> texts;
      for (const StageSample& sample : samples) {
        EXPECT_TRUE(sample.text.starts_with(kind.option)) << sample.text;
        EXPECT_EQ(sample.stage->name(), kind.option.substr(2));
        texts.insert(sample.text);
      }
      EXPECT_EQ(texts.size(), samples.size()) << kind.option;
    }
  }
}

TEST(StageSamples, AllCombinationsOrOneParameterAtATime) {
  const auto blur = stage_kinds({"blur"});
  ASSERT_EQ(blur.size(), 1U);
  // naive and auto: 4 borders and 2 ways with alpha; tiled: 3 tiles, too.
  EXPECT_EQ(samples_of(blur.front(), true).size(), 8U + 24U + 8U);
  EXPECT_EQ(samples_of(blur.front(), false).size(), 5U + 7U + 5U);
  const auto all = samples_of(blur.front(), true);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const StageSample& sample) {
    return sample.text == "--blur tiled --alpha independent --border wrap --tile 32";
  }));
}

TEST(StageSamples, KindsAreNamedWithoutDashes) {
  EXPECT_EQ(stage_kinds({}).size(), stage_catalogue().size());
  EXPECT_EQ(stage_names().size(), stage_catalogue().size());
  EXPECT_TRUE(stage_kinds({"none of that name"}).empty());
}

}  // namespace
}  // namespace gpufilter::lab
