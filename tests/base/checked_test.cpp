#include <cstddef>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "base/numbers.hpp"

namespace gpufilter {
namespace {

TEST(Checked, MultipliesWhatFits) {
  EXPECT_EQ(checked_multiply(6, 7), 42);
  EXPECT_EQ(checked_multiply<std::uint64_t>(1ULL << 32U, (1ULL << 32U) - 1), 0xffffffff00000000U);
  EXPECT_EQ(checked_multiply<std::size_t>(0, SIZE_MAX), 0U);
}

TEST(Checked, RefusesProductsThatDoNotFit) {
  EXPECT_THROW(static_cast<void>(checked_multiply<std::uint64_t>(1ULL << 32U, 1ULL << 32U)),
               std::overflow_error);
  EXPECT_THROW(static_cast<void>(checked_multiply(1 << 16, 1 << 15)), std::overflow_error);
  EXPECT_THROW(static_cast<void>(checked_multiply(-2, std::numeric_limits<int>::max())),
               std::overflow_error);
}

TEST(Checked, AddsWhatFits) {
  EXPECT_EQ(checked_add(2, 3), 5);
  EXPECT_EQ(checked_add<std::size_t>(SIZE_MAX - 1, 1), SIZE_MAX);
  EXPECT_THROW(static_cast<void>(checked_add<std::size_t>(SIZE_MAX, 1)), std::overflow_error);
  EXPECT_THROW(static_cast<void>(checked_add(std::numeric_limits<int>::min(), -1)),
               std::overflow_error);
}

TEST(Checked, RoundsUpToMultiples) {
  EXPECT_EQ(round_up(0, 64), 0);
  EXPECT_EQ(round_up(1, 64), 64);
  EXPECT_EQ(round_up(64, 64), 64);
  EXPECT_EQ(round_up(65, 64), 128);
  EXPECT_EQ(round_up(7, 1), 7);
  EXPECT_THROW(static_cast<void>(round_up<std::size_t>(SIZE_MAX - 1, 64)), std::overflow_error);
}

}  // namespace
}  // namespace gpufilter
