#include "host/instruction_set.hpp"

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "host/loops.hpp"

namespace gpufilter {
namespace {

TEST(InstructionSet, TheBaselineIsEverywhereAndTheBestIsLast) {
  const auto& sets = available_instruction_sets();
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.front(), InstructionSet::baseline);
  EXPECT_TRUE(std::is_sorted(sets.begin(), sets.end()));
  EXPECT_EQ(std::adjacent_find(sets.begin(), sets.end()), sets.end());
}

TEST(InstructionSet, NamesAreThoseOfTheEnvironmentVariable) {
  EXPECT_EQ(to_string(InstructionSet::baseline), "baseline");
  EXPECT_EQ(to_string(InstructionSet::avx2), "avx2");
  EXPECT_EQ(to_string(InstructionSet::avx512), "avx512");
  EXPECT_EQ(to_string(InstructionSet::avx512_vbmi), "avx512_vbmi");
}

struct WhichLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(InstructionSet* ran) {
    *ran = set;
  }
};

TEST(InstructionSet, LoopsRunWithTheOneInUse) {
  const InstructionSet before = instruction_set();
  for (const InstructionSet set : available_instruction_sets()) {
    const InstructionSetInUse in_use(set);
    EXPECT_EQ(instruction_set(), set);
    InstructionSet ran{};
    run_loop<WhichLoop>(&ran);
    EXPECT_EQ(ran, std::min(set, InstructionSet::avx512));
  }
  EXPECT_EQ(instruction_set(), before);
}

TEST(InstructionSet, TheBaselineOfOneThreadStaysThere) {
  const InstructionSet before = instruction_set();
  {
    const BaselineOnThisThread here;
    const InstructionSetInUse in_use(InstructionSet::baseline);
  }
  EXPECT_EQ(instruction_set(), before);
}

TEST(InstructionSet, OneThatIsMissingIsRefused) {
  const auto& sets = available_instruction_sets();
  for (const InstructionSet set : {InstructionSet::avx2, InstructionSet::avx512_vbmi}) {
    if (std::find(sets.begin(), sets.end(), set) != sets.end()) continue;
    EXPECT_THROW(InstructionSetInUse{set}, std::logic_error);
  }
}

}  // namespace
}  // namespace gpufilter
