#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "host/pixels.hpp"
#include "support/instruction_sets.hpp"

namespace gpufilter::test {
namespace {

// Numbers of every magnitude, including zeros, infinities and NaN, and some that differ in few
// bits.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : engine_(seed) {}

  float next() {
    const auto word = static_cast<std::uint32_t>(engine_() >> 32U);
    switch (engine_() % 8) {
      case 0:
        return std::bit_cast<float>(word);
      case 1:
        return std::bit_cast<float>(word & 0x807fffffU);  // subnormal or zero
      case 2:
        return static_cast<float>(word % 256U);
      case 3:
        return std::bit_cast<float>(0x3f800000U + word % 8U);  // just above 1
      case 4:
        return std::ldexp(1.0F, static_cast<int>(word % 250U) - 125);
      case 5:
        return std::bit_cast<float>((word & 0x80000007U) | 0x7f7ffff8U);  // near the largest
      default:
        return static_cast<float>(static_cast<std::int32_t>(word)) * 0x1p-31F;
    }
  }

 private:
  std::mt19937_64 engine_;
};

::testing::AssertionResult fused_equally(float a, float b, float c) {
  const float expected = std::fma(a, b, c);
  const float result = fma_from_double(a, b, c);
  if (std::isnan(expected)
          ? std::isnan(result)
          : std::bit_cast<std::uint32_t>(result) == std::bit_cast<std::uint32_t>(expected)) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << std::hexfloat << "fma(" << a << ", " << b << ", " << c
                                       << ") is " << expected << ", not " << result;
}

TEST(FusedMultiplyAdd, FromDoubleIsRoundedOnceAndFromDoubleIsRoundedOnceNextToTheMiddle) {
  Numbers numbers(1);
  for (int i = 0; i < 3'000'000; ++i)
    ASSERT_TRUE(fused_equally(numbers.next(), numbers.next(), numbers.next()));
  // The sum in double precision is rounded to the middle between two floats: rounding it again
  // would give the even one of them, regardless of the exact sum.
  for (const auto& [sign, tiny] :
       each_of(std::vector<float>{1.0F, -1.0F},
               std::vector<float>{0x1p-60F, -0x1p-60F, 0x1p-149F, -0x1p-149F, 0.0F, -0.0F})) {
    for (int odd = 0; odd < 4; ++odd) {
      const float above_one = 1.0F + static_cast<float>(odd) * 0x1p-12F;
      // (1 + odd / 2^12) * (1 + 2^-12) has its last bit at 2^-24: the middle between two floats.
      ASSERT_TRUE(fused_equally(sign * above_one, 1.0F + 0x1p-12F, tiny));
    }
  }
  EXPECT_EQ(fma_from_double(1.0F + 0x1p-12F, 1.0F + 0x1p-12F, 0x1p-149F),
            1.0F + 0x1p-11F + 0x1p-23F);
  EXPECT_EQ(fma_from_double(1.0F + 0x1p-12F, 1.0F + 0x1p-12F, -0x1p-149F), 1.0F + 0x1p-11F);
}

template <typename Sample>
void expect_samples_rounded_half_to_even() {
  constexpr int max = std::numeric_limits<Sample>::max();
  for (int i = -4; i <= 4 * (max + 2); ++i) {
    const float number = static_cast<float>(i) / 4.0F;
    const float rounded = std::nearbyint(number);
    const float expected = rounded < 0 ? 0 : (rounded > max ? max : rounded);
    ASSERT_EQ(to_sample<Sample>(number), static_cast<std::uint32_t>(expected)) << number;
    const float below = std::nextafter(number, -1.0F);
    const float expected_below = std::nearbyint(below) < 0 ? 0 : std::nearbyint(below);
    ASSERT_EQ(to_sample<Sample>(below),
              static_cast<std::uint32_t>(expected_below > max ? max : expected_below))
        << below;
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_sample<Sample>(std::numeric_limits<float>::quiet_NaN()), 0U);
  EXPECT_EQ(to_sample<Sample>(-std::numeric_limits<float>::quiet_NaN()), 0U);
  EXPECT_EQ(to_sample<Sample>(-infinity), 0U);
  EXPECT_EQ(to_sample<Sample>(-0.0F), 0U);
  EXPECT_EQ(to_sample<Sample>(infinity), static_cast<std::uint32_t>(max));
}

TEST(ToSample, RoundsHalfToEvenAndSaturates) {
  expect_samples_rounded_half_to_even<std::uint8_t>();
  expect_samples_rounded_half_to_even<std::uint16_t>();
}

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

struct LoopWithoutBaseline {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(InstructionSet* ran) {
    static_assert(set != InstructionSet::baseline);
    *ran = set;
  }
};

TEST(InstructionSet, LoopsThatItLacksAreRefused) {
  with_each_instruction_set([] {
    InstructionSet ran{};
    const auto run = [&] {
      run_loop_of_sets<LoopWithoutBaseline, InstructionSet::neon_dot, InstructionSet::avx2>(&ran);
    };
    if (instruction_set() == InstructionSet::baseline) {
      EXPECT_THROW(run(), std::logic_error);
    } else {
      run();
      EXPECT_EQ(ran, std::min(instruction_set(), InstructionSet::avx2));
    }
  });
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

// Conversions between numbers of channels, with each instruction set, for every count of pixels.

constexpr std::size_t max_count = 200;
constexpr std::size_t guard = 64;  // samples after the last one that must stay as they are

template <typename Sample>
struct ToRgbaLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Sample* in, std::size_t channels, std::size_t count,
                                         Sample* rgba) {
    to_rgba<set>(in, channels, count, rgba);
  }
};

template <typename Sample>
struct FromRgbaLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Sample* rgba, std::size_t count,
                                         std::size_t channels, Sample* out) {
    from_rgba<set>(rgba, count, channels, out);
  }
};

// Sample i of a picture in which no two neighbours are equal.
template <typename Sample>
Sample sample(std::size_t i) {
  return static_cast<Sample>(i * 2654435761U >> 7U);
}

template <typename Sample>
std::vector<Sample> samples(std::size_t count) {
  std::vector<Sample> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = sample<Sample>(i);
  return all;
}

template <typename Sample>
void check_to_rgba(std::size_t channels, std::size_t count) {
  constexpr Sample max = std::numeric_limits<Sample>::max();
  const std::vector<Sample> in = samples<Sample>(channels * count);  // nothing after them to read
  std::vector<Sample> out(4 * count + guard, Sample{0xA5});
  run_loop<ToRgbaLoop<Sample>>(in.data(), channels, count, out.data());
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&](std::size_t c) { return in[channels * i + c]; };
    for (std::size_t c = 0; c < 3; ++c)
      ASSERT_EQ(out[4 * i + c], at(channels >= 3 ? c : 0)) << count << ", pixel " << i;
    ASSERT_EQ(out[4 * i + 3], channels % 2 == 0 ? at(channels - 1) : max) << count;
  }
  for (std::size_t i = 4 * count; i < out.size(); ++i)
    ASSERT_EQ(out[i], 0xA5) << count;
}

template <typename Sample>
void check_from_rgba(std::size_t channels, std::size_t count) {
  const std::vector<Sample> in = samples<Sample>(4 * count);
  std::vector<Sample> out(channels * count + guard, Sample{0xA5});
  run_loop<FromRgbaLoop<Sample>>(in.data(), count, channels, out.data());
  for (std::size_t i = 0; i < channels * count; ++i)
    ASSERT_EQ(out[i], in[i / channels * 4 + i % channels]) << count;
  for (std::size_t i = channels * count; i < out.size(); ++i)
    ASSERT_EQ(out[i], 0xA5) << count;
}

template <typename Sample>
void check_all() {
  with_each_instruction_set([] {
    for (std::size_t count = 0; count <= max_count; ++count) {
      for (const std::size_t channels : {1U, 2U, 3U, 4U})
        check_to_rgba<Sample>(channels, count);
      for (const std::size_t channels : {3U, 4U})
        check_from_rgba<Sample>(channels, count);
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(Pixels, BecomeRgbaAndBackAgain) {
  check_all<std::uint8_t>();
  check_all<std::uint16_t>();
}

TEST(Pixels, HoldTheirSamples) {
  const std::vector<std::uint16_t> in{1, 65535, 3, 40000};
  std::vector<std::uint16_t> out(4);
  auto pixel = Pixel<std::uint16_t, 4>::read(in.data());
  Pixel<std::uint16_t, 4> other;
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_EQ(pixel.get(c), in[c]);
    other.put(c, 7);
  }
  pixel.if_else(true, other).write(out.data());
  EXPECT_EQ(out, in);
  pixel.if_else(false, other).write(out.data());
  EXPECT_EQ(out, std::vector<std::uint16_t>(4, 7));
  pixel &= other;
  pixel.write(out.data());
  EXPECT_EQ(out, (std::vector<std::uint16_t>{1, 7, 3, 0}));
}

}  // namespace
}  // namespace gpufilter::test
