// Conversions between numbers of channels, with each instruction set, for every count of pixels.
#include "host/pixels.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/instruction_sets.hpp"

namespace gpufilter {
namespace {

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
  test::with_each_instruction_set([] {
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
}  // namespace gpufilter
