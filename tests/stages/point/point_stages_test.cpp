// --depth converts every sample exactly, on the processor and on every device.

#include "image/sample_arithmetic.hpp"
#include "stages/colour/color.hpp"
#include "stages/point/lookup.hpp"
#include "stages/window/blur.hpp"
#include "support/instruction_sets.hpp"
#include "support/single_pixels.hpp"

namespace gpufilter::test {
namespace {

// All levels, in order.
Image all_levels(int depth) {
  const PixelFormat format{1, depth};
  Image image({256, depth == 8 ? 1 : 256}, format);
  for (const auto [x, y] : each_pixel({256, image.size().height}))
    set_sample(image, x, y, 0, static_cast<std::uint32_t>(256 * y + x));
  return image;
}

// Half way between two levels of 8 bits lies no level of 16 bits: 65535 / 255 is odd.
std::uint32_t nearest_level(std::uint32_t sample, int to) {
  return static_cast<std::uint32_t>(to == 8 ? sample / 257.0 + 0.5 : sample * 257.0);
}

TEST(Depth, ConvertsEveryLevelAndThatAPictureHasChangesNothingAndThereAndBackChangesNothing) {
  for (const int to : {8, 16}) {
    const Image image = all_levels(24 - to);
    with_each_instruction_set([&] {
      const Image found = filter_on_host(image, {stage_of(formatted("--depth {}", to))}, {});
      ASSERT_EQ(found.format(), (PixelFormat{1, to}));
      for (const auto [x, y] : each_pixel({256, image.size().height}))
        ASSERT_EQ(sample_at(found, x, y, 0), nearest_level(sample_at(image, x, y, 0), to));
    });
  }
  for (const int depth : {8, 16}) {
    const Image image = random_image({31, 9}, {4, depth}, 2);
    EXPECT_TRUE(
        same_pixels(filter_on_host(image, {stage_of(formatted("--depth {}", depth))}, {}), image));
  }
  const Image image = random_image({31, 9}, {3, 8}, 3);
  EXPECT_TRUE(same_pixels(
      filter_on_host(image, {stage_of("--depth 16"), stage_of("--depth 8")}, {}), image));
}

// Nearest with exact halves down, in 64 bits.
std::uint32_t laid_over(std::uint64_t color, std::uint64_t alpha, std::uint64_t background,
                        std::uint64_t max) {
  const std::uint64_t sum = color * alpha + background * (max - alpha);
  const std::uint64_t whole = sum / max;
  return static_cast<std::uint32_t>(sum % max > max / 2 ? whole + 1 : whole);
}

TEST(Flatten, LaysColoursOverTheBackground) {
  const Color color{0x33, 0x66, 0xcc};
  for (const PixelFormat& format : all_formats()) {
    const std::uint32_t max = format.max_sample();
    const std::uint32_t scale = format.depth == 8 ? 1 : 257;
    const auto colors = static_cast<std::size_t>(format.color_channels());
    for (const Image& image :
         {random_image({257, 17}, format, 1), extreme_image({33, 5}, format, 2)}) {
      const Image expected =
          mapped(image, {format.color_channels(), format.depth}, [&](Samples pixel) {
            const std::uint32_t alpha = format.has_alpha() ? pixel.at(colors) : max;
            for (std::size_t c = 0; c < colors; ++c) {
              // 0.299 * 0x33 + 0.587 * 0x66 + 0.114 * 0xcc = 98.379
              const std::uint32_t background = colors == 1 ? 98U : color.at(c);
              pixel.at(c) = laid_over(pixel.at(c), alpha, background * scale, max);
            }
            return pixel;
          });
      expect_everywhere({stage_of("--flatten '#3366cc'")}, image, expected);
    }
  }
}

TEST(Flatten, ChangesNothingWithoutAlpha) {
  EXPECT_TRUE(changes_nothing(stage_of("--flatten black"), {{3, 3}, {3, 8}}));
  EXPECT_FALSE(changes_nothing(stage_of("--flatten black"), {{3, 3}, {4, 8}}));
}

TEST(FlattenOption, RefusesWhatIsNotAColour) {
  expect_values(flatten_stage_kind(), {"#abc"}, {"", "wite", "#12345", "1,2,3"});
}

// --gamma and --invert, which are tables, and tables that become one.

template <typename Function>
void expect_for_colors(const StageChain& chain, const Function& function) {
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({1031, 65}, format, 1);
    const Image expected = mapped(image, format, [&](Samples pixel) {
      for (int c = 0; c < format.color_channels(); ++c) {
        auto& sample = pixel.at(static_cast<std::size_t>(c));
        sample = function(sample, format.max_sample());
      }
      return pixel;
    });
    expect_everywhere(chain, image, expected);
  }
}

// In long double: no power of these is near enough to a half for the last bits to matter.
std::uint32_t brightened(std::uint32_t sample, std::uint32_t max, long double gamma) {
  const long double share = static_cast<long double>(sample) / max;
  return static_cast<std::uint32_t>(std::nearbyint(std::pow(share, 1 / gamma) * max));
}

TEST(Gamma, IsAPowerOfEveryColourSample) {
  for (const double gamma : {0.45, 1.0, 2.2, 10.0}) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> tables;
    for (const std::uint32_t max : {255U, 65535U}) {
      for (std::uint32_t sample = 0; sample <= max; ++sample)
        tables[max].push_back(brightened(sample, max, gamma));
    }
    expect_for_colors(
        {stage_of(formatted("--gamma {}", gamma))},
        [&](std::uint32_t sample, std::uint32_t max) { return tables.at(max).at(sample); });
  }
}

TEST(Invert, SubtractsEveryColourSampleFromTheLargest) {
  expect_for_colors({stage_of("--invert")},
                    [](std::uint32_t sample, std::uint32_t max) { return max - sample; });
}

TEST(Tables, OfNeighboursBecomeOneWithTheSameBits) {
  const StageChain chain{stage_of("--gamma 2.2"), stage_of("--invert"),
                         make_levels({10, true}, {80, true})};
  for (const PixelFormat& format : {PixelFormat{4, 8}, PixelFormat{3, 16}}) {
    const Plan plan = make_plan({{301, 9}, format}, chain);
    ASSERT_EQ(plan.passes.size(), 1U);
    EXPECT_EQ(plan.passes.front().step->title().name, "gamma + invert + levels");
    const Image image = random_image({301, 9}, format, 3);
    Image apart = copy_of(image);
    for (const auto& stage : chain)
      apart = filter_on_host(apart, {stage}, {});
    expect_everywhere(chain, image, apart);
  }
}

TEST(GammaOption, TakesNumbersFromATenthToTen) {
  expect_values(gamma_stage_kind(), {"0.1", "1", "2.2", "10"}, {"", "0", "-1", "11", "nan", "2,2"});
}

TEST(Gray, IsTheNearestLumaAndKeepsAlpha) {
  for (const PixelFormat& format : all_formats()) {
    const PixelFormat target{format.has_alpha() ? 2 : 1, format.depth};
    for (const Image& image :
         {random_image({1031, 17}, format, 1), extreme_image({33, 5}, format, 2)}) {
      const Image expected = mapped(image, target, [&](const Samples& in) {
        if (format.color_channels() == 1) return in;
        // Weights of ITU-R BT.709 in double precision; no sum is near enough to a half to matter.
        const double luma = 0.2126 * in[0] + 0.7152 * in[1] + 0.0722 * in[2];
        return Samples{static_cast<std::uint32_t>(luma + 0.5 + 1e-9), in[3]};
      });
      expect_everywhere({stage_of("--gray")}, image, expected);
    }
  }
}

TEST(Gray, ChangesNothingInGreyPictures) {
  EXPECT_TRUE(changes_nothing(stage_of("--gray"), {{3, 3}, {2, 8}}));
  EXPECT_FALSE(changes_nothing(stage_of("--gray"), {{3, 3}, {3, 8}}));
}

TEST(GrayOption, TakesNoValue) {
  expect_values(gray_stage_kind(), {""}, {"rec709"});
}

// --vibrance, and --hue, which is a matrix.

Samples changed(const Samples& in, double amount, std::uint32_t max) {
  const std::uint32_t luma = luma_bt709(in[0], in[1], in[2]);
  const auto [low, high] = std::minmax({in[0], in[1], in[2]});
  const auto difference = [&](std::size_t a, std::size_t b) {
    return static_cast<std::int64_t>(in.at(a)) - static_cast<std::int64_t>(in.at(b));
  };
  const std::int64_t spread = std::int64_t{high} - low;
  const std::int64_t skin =
      std::max<std::int64_t>(std::min(4 * difference(1, 2), 8 * difference(0, 1)), 0);
  const std::int64_t strength = std::min<std::int64_t>(spread + skin, max);
  const float factor = std::fma(static_cast<float>(-amount / max), static_cast<float>(strength),
                                static_cast<float>(1 + amount));
  Samples out = in;
  for (std::size_t c = 0; c < 3; ++c) {
    const float distance = static_cast<float>(in.at(c)) - static_cast<float>(luma);
    const float sum = std::nearbyint(std::fma(factor, distance, static_cast<float>(luma)));
    out.at(c) = static_cast<std::uint32_t>(std::clamp(sum, 0.0F, static_cast<float>(max)));
  }
  return out;
}

TEST(Vibrance, SaturatesByTheFormulaAndChangesPaleColoursMoreThanStrongOnes) {
  for (const auto& [format, amount] :
       each_of(all_formats(), std::vector<double>{-1.0, -0.3, 0.5, 1.0})) {
    for (const Image& image :
         {random_image({517, 9}, format, 1), extreme_image({33, 5}, format, 2)}) {
      const Image expected = mapped(image, format, [&](const Samples& in) {
        return format.color_channels() == 1 ? in : changed(in, amount, format.max_sample());
      });
      expect_everywhere({stage_of(formatted("--vibrance {}", amount))}, image, expected);
    }
  }
  const auto spread = [](const Samples& pixel) { return pixel[0] - pixel[2]; };
  const Samples pale = changed({140, 128, 120}, 1, 255);
  const Samples strong = changed({200, 100, 20}, 1, 255);
  EXPECT_EQ(spread(pale), 36U);  // from 20
  EXPECT_LT(spread(strong), 235U);
  EXPECT_EQ(changed({9, 9, 9}, 1, 255), (Samples{9, 9, 9}));
}

// Skin, light to dark, against the same spread of colours at other hues.
TEST(Vibrance, SparesSkin) {
  for (const Samples& skin :
       {Samples{230, 199, 171}, {224, 172, 138}, {198, 134, 66}, {141, 85, 56}}) {
    const auto spread = [](const Samples& pixel) {
      const auto [low, high] = std::minmax({pixel[0], pixel[1], pixel[2]});
      return static_cast<double>(high - low);
    };
    const auto gain = [&](const Samples& pixel) {
      return spread(changed(pixel, 0.5, 255)) / spread(pixel) - 1;
    };
    const Samples sky{skin[2], skin[1], skin[0]};
    EXPECT_LT(gain(skin), 0.17) << skin[0];
    EXPECT_GT(gain(sky), 0.19) << skin[0];
  }
}

TEST(Vibrance, ChangesNothingInGreyPicturesAndWithAnAmountOfZero) {
  EXPECT_TRUE(changes_nothing(stage_of("--vibrance 1"), {{3, 3}, {2, 8}}));
  EXPECT_TRUE(changes_nothing(stage_of("--vibrance 0"), {{3, 3}, {3, 8}}));
  EXPECT_FALSE(changes_nothing(stage_of("--vibrance 1"), {{3, 3}, {3, 8}}));
}

TEST(Hue, IsThePresetOfColor) {
  for (const PixelFormat& format : {PixelFormat{1, 8}, PixelFormat{4, 8}, PixelFormat{3, 16}}) {
    const Image image = random_image({129, 9}, format, 4);
    const auto color = make_color(to_matrix(find_color_preset("hue=-30").value()), "");
    expect_everywhere({stage_of("--hue -30")}, image, filter_on_host(image, {color}, {}));
  }
  expect_values(hue_stage_kind(), {}, {"400"});
}

// Look-ups on the processor with each instruction set, against one sample at a time.

constexpr int widths[] = {1, 2, 3, 5, 17, 21, 22, 31, 63, 64, 65, 129, 255, 256, 257, 700};

// Calls check(picture) for every format and width.
template <typename Check>
void for_pictures(const Check& check) {
  for (const auto& [format, width] : each_of(all_formats(), widths)) {
    check(random_image({width, 3}, format, static_cast<std::uint64_t>(width)));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

template <typename Entry>
void expect_looked_up(const Image& image, const std::vector<Entry>& table, const Image& expected) {
  with_each_instruction_set([&] {
    Image result = poisoned_image(image.size(), image.format());
    if constexpr (std::is_same_v<Entry, float>) {
      lookup_rows(image.rows(), result.rows(), table.data());
    } else {
      lookup_rows(image.rows(), result.rows(), table);
    }
    ASSERT_TRUE(same_pixels(result, expected));
    ASSERT_TRUE(padding_holds(result.rows()));
  });
}

TEST(LookupRows, TakeColoursFromTheTable) {
  for_pictures([](const Image& image) {
    std::mt19937 generator(3);
    std::vector<std::uint16_t> table(image.format().max_sample() + 1);
    for (std::uint16_t& entry : table)
      entry = static_cast<std::uint16_t>(generator() & image.format().max_sample());
    Image expected = copy_of(image);
    for (const auto [x, y, c] : each_sample({image.width(), 3}, image.format().color_channels()))
      set_sample(expected, x, y, c, table[sample_at(image, x, y, c)]);
    expect_looked_up(image, table, expected);
  });
}

TEST(LookupRows, TakeEachColourFromItsOwnTable) {
  for_pictures([](const Image& image) {
    if (image.format().color_channels() == 1) return;
    std::mt19937 generator(4);
    const std::size_t entries = image.format().max_sample() + 1;
    std::vector<std::uint16_t> tables(3 * entries);
    for (std::uint16_t& entry : tables)
      entry = static_cast<std::uint16_t>(generator() & image.format().max_sample());
    Image expected = copy_of(image);
    for (const auto [x, y, c] : each_sample({image.width(), 3}, 3))
      set_sample(expected, x, y, c,
                 tables[static_cast<std::size_t>(c) * entries + sample_at(image, x, y, c)]);
    expect_looked_up(image, tables, expected);
  });
}

TEST(LookupRows, ScaleColoursByTheFactorOfTheirLuma) {
  for_pictures([](const Image& image) {
    const auto max = static_cast<float>(image.format().max_sample());
    std::vector<float> factors(image.format().max_sample() + 1);
    for (std::size_t i = 0; i < factors.size(); ++i)
      factors[i] = i % 5 == 0 ? 0.5F : (i % 7 == 0 ? 3e38F : static_cast<float>(i % 97) / 30.0F);
    Image expected = copy_of(image);
    for (const auto [x, y] : each_pixel({image.width(), 3})) {
      const auto at = [&](int c) { return sample_at(image, x, y, c); };
      const bool grey = image.format().color_channels() == 1;
      const float factor = factors[grey ? at(0) : luma_bt709(at(0), at(1), at(2))];
      for (int c = 0; c < image.format().color_channels(); ++c) {
        const float scaled = std::nearbyint(static_cast<float>(at(c)) * factor);
        set_sample(expected, x, y, c, static_cast<std::uint32_t>(scaled < max ? scaled : max));
      }
    }
    expect_looked_up(image, factors, expected);
  });
}

}  // namespace
}  // namespace gpufilter::test
