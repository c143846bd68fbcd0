// The work of "gpufilter verify" is shared among formats and processes, and nothing is lost.
#include <csignal>
#include <functional>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/stage_samples.hpp"
#include "lab/verify/verifier.hpp"

namespace gpufilter::lab {
namespace {

TEST(VerifyCases, EverySampleComesInSomeTurn) {
  for (const std::string stage : {"blur", "levels", "resize"}) {
    std::map<std::string, int> found;
    for (std::size_t turn = 0; turn < 8; ++turn) {
      for (const VerifyChain& chain : verify_samples({stage}, false, turn))
        ++found[chain.text];
    }
    const auto all = samples_of(stage_kinds({stage}).front(), true);
    EXPECT_EQ(found.size(), all.size());
    for (const auto& [text, times] : found)
      EXPECT_GE(times, 2) << text;
  }
}

TEST(VerifyCases, QuickTriesEachParameterWithOneValueATurn) {
  const auto all = samples_of(stage_kinds({"blur"}).front(), false);
  std::set<std::string> found;
  for (std::size_t turn = 0; turn < 3; ++turn) {
    std::set<std::string> texts;
    for (const VerifyChain& chain : verify_samples({"blur"}, true, turn))
      texts.insert(chain.text);
    // Three values with defaults; three borders, independent alpha, and two tiles of "tiled".
    EXPECT_EQ(texts.size(), 3U + 3U + 1U + 2U);
    for (const char* each :
         {"--blur naive", "--blur tiled", "--blur auto", "--blur tiled --tile 32"})
      EXPECT_TRUE(texts.contains(each)) << each;
    found.merge(texts);
  }
  EXPECT_EQ(found.size(), all.size());
}

TEST(VerifyCases, AKindComesBeforeAnotherOneEachTurn) {
  const std::size_t kinds = stage_names().size();
  std::set<std::string> pairs;
  for (std::size_t turn = 0; turn < 8; ++turn) {
    for (const VerifyChain& chain : verify_pairs({}, turn)) {
      ASSERT_EQ(chain.chain.size(), 2U);
      pairs.insert(chain.text);
    }
  }
  EXPECT_EQ(pairs.size(), 8 * kinds);
  EXPECT_EQ(verify_pairs({"blur", "levels", "gray"}, 5).size(), 9U);
}

VerifyReport report_of(const VerifyPart& part) {
  VerifyReport report;
  const int index = static_cast<int>(part.index);
  report.variants.push_back({"processor", "blur", "", 5 - part.index, 10, index, 0});
  report.variants.push_back({"device", "color", "pixels", part.index, 1 + index, 0, 0});
  report.cases = 11 + index;
  report.skipped = 1;
  if (index > 0) {
    report.first_failure = VerifyFailure{
        "processor", "--blur auto", "", 5 - part.index, {{7, 5}, {3, 16}}, 2, "row 1: \"2\""};
  }
  return report;
}

TEST(VerifyInParts, AddsTheResultsOfAllProcesses) {
  const VerifyReport all = verify_in_parts(3, report_of);
  EXPECT_EQ(all.cases, 11 + 12 + 13);
  EXPECT_EQ(all.skipped, 3);
  ASSERT_EQ(all.variants.size(), 2U);
  EXPECT_EQ(all.variants[0].place, "processor");
  EXPECT_EQ(all.variants[0].first_job, 3U);
  EXPECT_EQ(all.variants[0].cases, 30);
  EXPECT_EQ(all.variants[0].different, 3);
  EXPECT_EQ(all.variants[1].variant, "pixels");
  EXPECT_EQ(all.variants[1].cases, 6);
  ASSERT_TRUE(all.first_failure);
  EXPECT_EQ(all.first_failure->job, 3U);  // the first in the order of one process
  EXPECT_EQ(all.first_failure->picture.format.depth, 16);
  EXPECT_EQ(all.first_failure->band_rows, 2);
  EXPECT_EQ(all.first_failure->difference, "row 1: \"2\"");
}

std::string failure_with(const std::function<void()>& act) {
  try {
    static_cast<void>(verify_in_parts(2, [&](const VerifyPart& part) {
      if (part.index == 1) act();
      return VerifyReport{};
    }));
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "none";
}

TEST(VerifyInParts, SaysHowAProcessFailed) {
  EXPECT_EQ(failure_with([] { throw DeviceError("the device is lost"); }), "the device is lost");
  EXPECT_EQ(failure_with([] { std::raise(SIGKILL); }),
            "a process that verified a part ended: SIGKILL");
  EXPECT_EQ(failure_with([] {}), "none");
}

}  // namespace
}  // namespace gpufilter::lab
