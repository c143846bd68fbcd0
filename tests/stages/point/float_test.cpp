// Floating-point samples: every instruction set and device gives the bits of plain code, also of
// numbers outside 0..1, infinite ones and NaN. Stages without a rule for them refuse.

#include "image/float_samples.hpp"
#include "stage/lowering.hpp"
#include "support/filtering.hpp"
#include "support/instruction_sets.hpp"

namespace gpufilter::test {
namespace {

constexpr std::uint32_t stored_nan = 0x7fc00000U;

// Random bits are often huge or tiny; a half of the samples is near 0..1, some are special.
Image float_image(ImageSize size, int channels, std::uint32_t seed) {
  constexpr std::array special{0x00000000U, 0x80000000U, 0x00000001U, 0x807fffffU, 0x3f800000U,
                               0x7f800000U, 0xff800000U, 0x7fc00000U, 0xffc12345U, 0x7f7fffffU};
  std::mt19937 random(seed);
  Image image = random_image(size, {channels, float_depth}, seed);
  for (const auto [x, y, c] : each_sample(image)) {
    const auto draw = random() % 4;
    auto word = static_cast<std::uint32_t>(random());
    if (draw < 2) word = bits_of(static_cast<float>(word) * 0x1p-31F - 0.5F);
    if (draw == 2) word = special.at(word % special.size());
    set_sample(image, x, y, c, word);
  }
  return image;
}

// Calls check(result, how) for the chain on the processor, by every set, and on devices.
template <typename Check>
void everywhere_by(const std::string& words, const Image& image, const Check& check) {
  const StageChain chain = stages_of(words);
  with_each_instruction_set(
      [&] { check(filter_on_host(image, chain, {.band_rows = 5}), words + " on the processor"); });
  for (Session* session : kernel_sessions(image.format())) {
    for (const bool fuse : {true, false})
      check(filter_on_device(*session, image, chain, {.band_rows = 7}, fuse),
            words + " on " + session->device().name);
  }
}

// expected(x, y, channel): the word of a sample of the result.
template <typename Expected>
void expect_words(const std::string& words, const Image& image, const PictureShape& shape,
                  const Expected& expected) {
  everywhere_by(words, image, [&](const Image& found, const std::string& how) {
    ASSERT_EQ(found.size(), shape.size) << how;
    ASSERT_EQ(found.format(), shape.format) << how;
    for (const auto [x, y, c] : each_sample(found))
      ASSERT_EQ(sample_at(found, x, y, c), expected(x, y, c)) << how << ": " << x << ' ' << y;
  });
}

TEST(Floats, KeepAllBitsWhereTheyOnlyMove) {
  for (int channels = 1; channels <= 4; ++channels) {
    const Image image = float_image({69, 19}, channels, 3);
    const PixelFormat format = image.format();
    expect_words("--crop 35x11+5+3", image, {{35, 11}, format},
                 [&](int x, int y, int c) { return sample_at(image, x + 5, y + 3, c); });
    expect_words("--flop", image, {{69, 19}, format},
                 [&](int x, int y, int c) { return sample_at(image, 68 - x, y, c); });
    expect_words("--pad 1,2,3,4 --pad-color \"#336600\"", image, {{75, 23}, format},
                 [&](int x, int y, int c) {
                   const bool inside = x >= 4 && x < 73 && y >= 1 && y < 20;
                   if (inside) return sample_at(image, x - 4, y - 1, c);
                   if (format.has_alpha() && c + 1 == channels) return bits_of(1);
                   constexpr std::array colors{51.0F / 255, 102.0F / 255, 0.0F};
                   return bits_of(format.color_channels() == 1 ? 75.0F / 255 : colors.at(c));
                 });
    expect_words("--channel a", image, {{69, 19}, {1, float_depth}}, [&](int x, int y, int) {
      return format.has_alpha() ? sample_at(image, x, y, channels - 1) : bits_of(1);
    });
  }
}

float float_at(const Image& image, int x, int y, int channel) {
  return std::bit_cast<float>(sample_at(image, x, y, channel));
}

std::uint32_t stored(float value) {
  return std::isnan(value) ? stored_nan : bits_of(value);
}

TEST(Floats, AreComputedWithoutLimitsAndEveryNanIsStoredAlike) {
  for (const int channels : {3, 4}) {
    const Image image = float_image({261, 9}, channels, 5);
    const PictureShape shape{image.size(), image.format()};
    const auto in = [&](int x, int y, int c) { return float_at(image, x, y, c); };
    expect_words("--pixel \"r = fma(3, g, b) - r * 2; b = min(b, r); g = max(g, b)\"", image, shape,
                 [&](int x, int y, int c) {
                   if (c == 3) return sample_at(image, x, y, c);
                   const float red = std::fma(3.0F, in(x, y, 1), in(x, y, 2)) - in(x, y, 0) * 2;
                   const float blue = in(x, y, 2) < red ? in(x, y, 2) : red;
                   const float green = in(x, y, 1) < blue ? blue : in(x, y, 1);
                   return stored(c == 0 ? red : c == 1 ? green : blue);
                 });
    expect_words("--swap gbr", image, shape, [&](int x, int y, int c) {
      return c == 3 ? sample_at(image, x, y, 3) : stored(in(x, y, (c + 1) % 3));
    });
    expect_words("--pixel \"rgb = table(rgb, 0.5 0.25 4)\"", image, shape,
                 [&](int x, int y, int c) {
                   if (c == 3) return sample_at(image, x, y, 3);
                   const float place = in(x, y, c) * 2;
                   const float limited = place > 0 ? std::fmin(place, 2.0F) : 0;
                   return bits_of(std::array{0.5F, 0.25F, 4.0F}.at(std::lrint(limited)));
                 });
    for (const char* gray : {"--gray", "--channel luma"}) {
      const bool keeps_alpha = channels == 4 && std::string_view(gray) == "--gray";
      expect_words(
          gray, image, {shape.size, {keeps_alpha ? 2 : 1, float_depth}}, [&](int x, int y, int c) {
            if (c == 1) return sample_at(image, x, y, 3);
            const float last = 0.0722F * in(x, y, 2);
            return stored(std::fma(0.2126F, in(x, y, 0), std::fma(0.7152F, in(x, y, 1), last)));
          });
    }
  }
}

TEST(Floats, AreTheNearestQuotientsOfEverySampleAndBecomeItAgain) {
  for (const int depth : {8, 16}) {
    const int rows = depth == 8 ? 1 : 256;
    Image image({256, rows}, {1, depth});
    for (const auto [x, y, c] : each_sample(image))
      set_sample(image, x, y, c, static_cast<std::uint32_t>(256 * y + x));
    const auto max = static_cast<float>(image.format().max_sample());
    expect_words("--depth float", image, {image.size(), {1, float_depth}},
                 [&](int x, int y, int) { return bits_of(static_cast<float>(256 * y + x) / max); });
    everywhere_by("--depth float --depth " + std::to_string(depth), image,
                  [&](const Image& found, const std::string& how) {
                    ASSERT_TRUE(same_pixels(found, image)) << how;
                  });
  }
}

TEST(Floats, BecomeTheNearestSamples) {
  const Image image = float_image({69, 19}, 3, 7);
  for (const int depth : {8, 16}) {
    everywhere_by("--depth " + std::to_string(depth), image,
                  [&](const Image& found, const std::string& how) {
                    ASSERT_EQ(found.format(), (PixelFormat{3, depth}));
                    const float max = depth == 8 ? 255 : 65535;
                    for (const auto [x, y, c] : each_sample(found)) {
                      const float number = float_at(image, x, y, c) * max;
                      const float limited = number > 0 ? std::fmin(number, max) : 0;
                      ASSERT_EQ(sample_at(found, x, y, c), std::lrint(limited)) << how;
                    }
                  });
  }
}

TEST(Floats, AreTrimmedByTheirDifferences) {
  Image image = float_image({9, 7}, 1, 1);
  for (const auto [x, y, c] : each_sample(image)) {
    const bool inside = x >= 2 && x < 5 && y >= 1 && y < 3;
    set_sample(image, x, y, c, bits_of(inside ? -2.0F : x == 0 ? 1.5F : 1.5625F));
  }
  const auto size_by = [&](const std::string& words) {
    const PictureInMemory whole(std::as_const(image).rows());
    PictureContext context{.shape = whole.shape()};
    context.kept = &whole;
    return output_of(LoweredStage{stage_of(words)->lower(context), nullptr, {}}, whole.shape())
        .size;
  };
  EXPECT_EQ(size_by("--trim --fuzz 6.25"), (ImageSize{3, 2}));
  EXPECT_EQ(size_by("--trim --fuzz 6"), (ImageSize{8, 7}));
}

TEST(Floats, AreRefusedByStagesWithoutARule) {
  const PictureContext floats{.shape = {{20, 10}, {3, float_depth}}};
  for (const char* words : {"--median 2", "--levels auto", "--gamma 2", "--to-srgb"}) {
    const StageChain chain = stages_of(words);
    EXPECT_EQ(objection_to<UnsuitableFormat>([&] { return lower_chain(chain, floats); }),
              "--" + chain.front()->name() +
                  " has no rule for floating-point samples: put --depth 16 before it");
    EXPECT_NO_THROW(
        static_cast<void>(lower_chain(stages_of(std::string("--depth 16 ") + words), floats)));
  }
}

}  // namespace
}  // namespace gpufilter::test
