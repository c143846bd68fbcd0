// Turning stages: what they do to pixels, and how neighbours of them become one.

#include "host/turn_rows.hpp"
#include "stages/geometry/geometry.hpp"
#include "support/instruction_sets.hpp"
#include "support/naive_stages.hpp"
#include "support/process.hpp"
#include "support/single_pixels.hpp"

namespace gpufilter::test {
namespace {

constexpr std::array turn_sizes{ImageSize{67, 37}, ImageSize{1, 50},  ImageSize{50, 1},
                                ImageSize{1, 1},   ImageSize{16, 16}, ImageSize{33, 100}};

TEST(TurnRows, MovesEveryPixel) {
  with_each_instruction_set([] {
    for (const auto& [format, size] : each_of(all_formats(), turn_sizes)) {
      const Image image = random_image(size, format, 1);
      for (int orientation = 1; orientation <= 8; ++orientation) {
        const Turn turn = turn_for_orientation(orientation);
        Image found = poisoned_image(turn.size_of(size), format);
        turn_rows(image.rows(), turn, found.rows());
        ASSERT_TRUE(same_pixels(found, naive_turn(image, turn)))
            << orientation << ", " << size.width << "x" << size.height;
      }
    }
  });
}

// Also between pixels that lie side by side without gaps.
TEST(TurnRows, WritesNothingBesideItsPixels) {
  const PixelFormat format{3, 8};
  const Image image = random_image({21, 18}, format, 2);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Turn turn = turn_for_orientation(orientation);
    const ImageSize size = turn.size_of(image.size());
    const std::size_t pitch = static_cast<std::size_t>(size.width) * 3;
    std::vector<std::uint8_t> bytes(pitch * static_cast<std::size_t>(size.height) + 8, 0xA5);
    turn_rows(image.rows(), turn, {bytes.data(), pitch, {0, size.height}, size.width, format});
    const Image expected = naive_turn(image, turn);
    EXPECT_TRUE(same_pixels(ConstRows{bytes.data(), pitch, {0, size.height}, size.width, format},
                            expected.rows()))
        << orientation;
    EXPECT_EQ(bytes[bytes.size() - 8], 0xA5) << orientation;
  }
}

TEST(Flop, MirrorsRows) {
  for (const PixelFormat& format : {PixelFormat{1, 8}, PixelFormat{3, 8}, PixelFormat{4, 16}}) {
    const Image image = random_image({67, 37}, format, 3);
    const Image expected = naive_turn(image, left_right);
    for (const int rows : {1, 16, 1000}) {
      EXPECT_TRUE(
          same_pixels(filter_on_host(image, {stage_of("--flop")}, {.band_rows = rows}), expected));
    }
  }
}

TEST(Flop, TwoCopyThePicture) {
  const Image image = random_image({19, 7}, {2, 16}, 4);
  const StageChain chain{stage_of("--flop"), stage_of("--flop")};
  EXPECT_EQ(make_plan({image.size(), image.format()}, chain).passes.size(), 1U);
  EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {}), image));
}

TEST(TurnStages, SayHowTheyTurnThePicture) {
  const auto demanded = [](const std::string& words) {
    const auto demand = stage_of(words)->lower({}).demand;
    EXPECT_EQ(stage_of(words)->traits().keeps_picture, demand.has_value());
    return demand ? demand->whole : std::nullopt;
  };
  EXPECT_EQ(demanded("--flip"), upside_down);
  EXPECT_EQ(demanded("--rotate 90"), quarter_clockwise);
  EXPECT_EQ(demanded("--rotate 180"), half_a_turn);
  EXPECT_EQ(demanded("--rotate 270"), quarter_counterclockwise);
  EXPECT_FALSE(demanded("--flop")) << "it works row by row";
  EXPECT_FALSE(demanded("--blur auto"));
  const auto size_after = [](const std::string& words) {
    return result_of(stage_of(words), {{30, 20}, {3, 8}}).size;
  };
  EXPECT_EQ(size_after("--rotate 90"), (ImageSize{20, 30}));
  EXPECT_EQ(size_after("--rotate 180"), (ImageSize{30, 20}));
}

TEST(TurnStages, NeighboursBecomeOne) {
  const auto lowered = [](const std::string& first, const std::string& second) {
    return test::lowered({stage_of(first), stage_of(second)}, {3, 8});
  };
  const LoweredChain both = lowered("--rotate 90", "--flip");
  ASSERT_EQ(both.size(), 1U);
  EXPECT_EQ(both[0].demand.value().whole, quarter_clockwise.then(upside_down));
  EXPECT_EQ(both[0].title.name, "rotate + flip");
  EXPECT_EQ(both[0].placement.value().size, (ImageSize{640, 480}));
  const LoweredChain nothing = lowered("--flip", "--flip");
  ASSERT_EQ(nothing.size(), 1U);
  EXPECT_FALSE(nothing[0].demand);
  EXPECT_EQ(lowered("--flip", "--blur auto").size(), 2U);
}

TEST(AutoOrient, DependsOnThePicture) {
  const StageChain chain{stage_of("--auto-orient"), stage_of("--auto-orient")};
  const auto lowered = [&](int orientation) {
    return lower_chain(chain, {.shape = {{3, 4}, {3, 8}}, .orientation = orientation});
  };
  const LoweredChain turned = lowered(6);
  ASSERT_EQ(turned.size(), 1U) << "it is upright then";
  EXPECT_EQ(turned[0].demand.value().whole, quarter_clockwise);
  EXPECT_EQ(turned[0].title.label, "orientation 6");
  ASSERT_EQ(lowered(2).size(), 1U);
  EXPECT_FALSE(lowered(2)[0].demand) << "as --flop";
  EXPECT_TRUE(lowered(1).empty());
}

TEST(Rotate, TakesAnyAngleAndMovesPixelsByMultiplesOfNinety) {
  const std::vector<std::pair<std::string, std::string>> angles{
      {"270", "270"}, {"-90", "270"}, {"+90", "90"}, {"450", "90"},   {"-450", "270"},
      {"0", "0"},     {"360", "0"},   {"-360", "0"}, {"-180", "180"}, {"90.0", "90"}};
  for (const auto& [value, same] : angles) {
    EXPECT_EQ(rotate_stage_kind().make(value)->key(), rotate_stage_kind().make(same)->key())
        << value;
    EXPECT_EQ(rotate_stage_kind().make(value)->label(), same);
  }
  EXPECT_TRUE(changes_nothing(rotate_stage_kind().make("720"), {{3, 4}, {3, 8}}));
  EXPECT_EQ(rotate_stage_kind().make("90.5")->label(), "90.5");
  for (const std::string value : {"36001", "1e300", "right"})
    EXPECT_EQ(objection_to_value(rotate_stage_kind(), value),
              "--rotate " + value + ": a number from -36000 to 36000");
}

// --overlay against a second implementation, and the same bits everywhere.

std::uint64_t nearest_quotient(std::uint64_t dividend, std::uint64_t divisor) {
  return (dividend + divisor / 2) / divisor;
}

std::uint64_t in_depth(std::uint64_t sample, int from, int to) {
  if (from == to) return sample;
  return from == 8 ? sample * 257 : nearest_quotient(sample * 255, 65535);
}

struct Above {
  const Image& image;
  PixelPosition corner;
  double opacity = 1;
  bool has_colors = true;
  bool tiled = false;
};

// Pixel by pixel in 64-bit integers.
Image laid_over(const Image& below, const Above& above) {
  const PixelFormat from = below.format();
  const PixelFormat own = above.image.format();
  const bool grey = from.color_channels() == 1 && !above.has_colors;
  const PixelFormat to{(grey ? 1 : 3) + (from.has_alpha() ? 1 : 0), from.depth};
  const std::uint64_t max = to.max_sample();
  Image result = poisoned_image(below.size(), to);
  for (const auto [x, y] : each_pixel(below)) {
    int u = x - above.corner.x;
    int v = y - above.corner.y;
    if (above.tiled) {
      u = (u % above.image.width() + above.image.width()) % above.image.width();
      v = (v % above.image.size().height + above.image.size().height) % above.image.size().height;
    }
    const bool inside =
        0 <= u && u < above.image.width() && 0 <= v && v < above.image.size().height;
    const std::uint64_t full =
        !inside ? 0
        : own.has_alpha()
            ? in_depth(sample_at(above.image, u, v, own.channels - 1), own.depth, from.depth)
            : max;
    const auto s =
        static_cast<std::uint64_t>(std::lround(static_cast<double>(full) * above.opacity));
    const std::uint64_t b = from.has_alpha() ? sample_at(below, x, y, from.channels - 1) : max;
    const std::uint64_t sum = s * max + b * (max - s);
    for (int c = 0; c < to.color_channels(); ++c) {
      const std::uint64_t under = sample_at(below, x, y, from.color_channels() == 1 ? 0 : c);
      const std::uint64_t over =
          inside ? in_depth(sample_at(above.image, u, v, own.color_channels() == 1 ? 0 : c),
                            own.depth, from.depth)
                 : 0;
      std::uint64_t mixed = under;
      if (from.has_alpha() && sum > 0)
        mixed = (over * s * max + under * b * (max - s) + sum / 2) / sum;
      if (!from.has_alpha()) mixed = (over * s + under * (max - s) + max / 2) / max;
      set_sample(result, x, y, c, static_cast<std::uint32_t>(mixed));
    }
    if (from.has_alpha())
      set_sample(result, x, y, to.channels - 1, static_cast<std::uint32_t>((sum + max / 2) / max));
  }
  return result;
}

TEST(Overlay, GivesTheFormulaEverywhere) {
  const Image color = mixed_alpha_image({40, 9}, {4, 8}, 1);
  const Image deep = random_image({300, 40}, {2, 16}, 2);  // larger than the picture
  const OverlayPlace inside{Gravity::southeast, {3}, {2}};
  for (const PixelFormat& format : all_formats()) {
    const Image image = format.has_alpha() ? mixed_alpha_image({131, 17}, format, 3)
                                           : random_image({131, 17}, format, 3);
    expect_everywhere({make_overlay(copy_of(color), {inside}, "")}, image,
                      laid_over(image, {color, {131 - 40 - 3, 17 - 9 - 2}}));
    expect_everywhere({make_overlay(copy_of(deep), {.opacity = 0.37}, "")}, image,
                      laid_over(image, {deep, {-85, -12}, 0.37, false}));
  }
}

// Every alpha over every alpha, with the colours that round closest to the edges.
TEST(Overlay, RoundsEveryPairOfAlphas) {
  for (const PixelFormat& format : {PixelFormat{2, 8}, PixelFormat{2, 16}, PixelFormat{1, 16}}) {
    const std::uint32_t step = format.depth == 8 ? 1 : 257;
    for (const auto& [over, under] :
         std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 255}, {255, 0}, {254, 255}}) {
      Image below({256, 256}, format);
      Image above({256, 256}, {2, format.depth});
      for (const auto [x, y] : each_pixel({256, 256})) {
        // In 16 bits, not only multiples of 257.
        const auto alpha = [&](int i) {
          const auto level = static_cast<std::uint32_t>(i);
          return level * step + (step > 1 && i > 0 && i < 255 ? level * 31 % 257 - 128 : 0);
        };
        set_sample(below, x, y, 0, under * step);
        if (format.has_alpha()) set_sample(below, x, y, 1, alpha(x));
        set_sample(above, x, y, 0, over * step);
        set_sample(above, x, y, 1, alpha(y));
      }
      expect_everywhere({make_overlay(copy_of(above), {}, "")}, below,
                        laid_over(below, {above, {}, 1, false}));
    }
  }
}

TEST(Overlay, LiesWhereItIsPut) {
  const Image mark = opaque_image({7, 5}, {4, 8}, 1);
  const Image image = random_image({20, 10}, {3, 8}, 2);
  const std::vector<std::pair<std::string, PixelPosition>> places{
      {"center", {6, 2}},         {"northwest", {0, 0}}, {"north+1+2", {7, 2}},
      {"northeast+1+2", {12, 2}}, {"west-3+1", {-3, 3}}, {"east+4+0", {9, 2}},
      {"southwest+2+1", {2, 4}},  {"south+0-3", {6, 8}}, {"southeast-4-4", {17, 9}},
      {"+3+4", {3, 4}},           {"-6-4", {-6, -4}},    {"+20+0", {20, 0}},
      {"center+0+500", {6, 502}}};
  for (const auto& [text, corner] : places) {
    const auto stage = make_overlay(copy_of(mark), {parse_overlay_place(text)}, "");
    for (const int rows : {1, 4, 1000}) {
      EXPECT_TRUE(same_pixels(filter_on_host(image, {stage}, {.band_rows = rows}),
                              laid_over(image, {mark, corner})))
          << text;
    }
  }
}

TEST(Overlay, LiesAtAShareOfThePicture) {
  const Image mark = opaque_image({7, 5}, {4, 8}, 1);
  const Image image = random_image({201, 50}, {3, 8}, 2);
  // 2 % of 201 are 4.02 pixels, 25 % of 50 are 12.5, which becomes 13.
  for (const auto& [text, corner] : std::vector<std::pair<std::string, PixelPosition>>{
           {"southeast+2%+25%", {190, 32}}, {"-2%+3", {-4, 3}}, {"center+0+0.5%", {97, 22}}}) {
    const auto stage = make_overlay(copy_of(mark), {parse_overlay_place(text)}, "");
    EXPECT_TRUE(same_pixels(filter_on_host(image, {stage}, {}), laid_over(image, {mark, corner})))
        << text;
  }
}

TEST(Overlay, RepeatsInAllDirections) {
  const Image wide = mixed_alpha_image({300, 4}, {4, 8}, 1);
  const Image small = mixed_alpha_image({5, 3}, {4, 8}, 1);
  for (const PixelFormat& format : {PixelFormat{3, 8}, PixelFormat{4, 16}, PixelFormat{1, 8}}) {
    const Image image = format.has_alpha() ? mixed_alpha_image({131, 17}, format, 3)
                                           : random_image({131, 17}, format, 3);
    for (const Image* mark : {&wide, &small}) {
      for (const auto& [text, corner] : std::vector<std::pair<std::string, PixelPosition>>{
               {"northwest", {0, 0}}, {"+1000+7", {1000, 7}}, {"-3-2", {-3, -2}}}) {
        expect_everywhere(
            {make_overlay(copy_of(*mark), {.place = parse_overlay_place(text), .tiled = true}, "")},
            image, laid_over(image, {*mark, corner, 1, true, true}));
      }
    }
  }
}

TEST(Overlay, IsResizedToAShareOfThePicture) {
  const Image mark = mixed_alpha_image({60, 44}, {4, 8}, 1);
  const auto stage = make_overlay(
      copy_of(mark),
      {.place = {Gravity::southeast, {1}, {2}}, .opacity = 0.7, .width = Length{21, true}}, "");
  for (const int width : {131, 67, 131, 300, 40, 90, 1}) {
    const Image image = random_image({width, 37}, {3, 8}, 3);
    const int own = std::max(static_cast<int>(std::floor(width * 0.21 + 0.5)), 1);
    const int height = std::max(static_cast<int>(std::floor(44.0 * own / 60 + 0.5)), 1);
    const Image smaller =
        filter_on_host(mark, {stage_of(formatted("--resize {}x{} --fit fill", own, height))}, {});
    const Image expected = laid_over(image, {smaller, {width - own - 1, 37 - height - 2}, 0.7});
    const LoweredChain chain = lower_chain({stage}, {.shape = {image.size(), image.format()}});
    EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {}), expected)) << width;
  }
  const auto column =
      make_overlay(random_image({1, 5000}, {3, 8}, 1), {.width = Length{100, true}}, "");
  EXPECT_THROW(static_cast<void>(column->lower({.shape = {{30000, 10}, {3, 8}}})), UnsuitableSize);
}

TEST(Overlay, StandsAnywhereInAChain) {
  const Image mark = mixed_alpha_image({9, 9}, {4, 8}, 1);
  const Image image = random_image({31, 17}, {1, 8}, 2);
  const auto overlay = make_overlay(copy_of(mark), {{Gravity::north, {}, {}}, 0.8}, "");
  const Image inner = filter_on_host(image, {make_blur({})}, {});
  const Image expected = filter_on_host(laid_over(inner, {mark, {11, 0}, 0.8}),
                                        {make_blur({.border = Border::wrap})}, {});
  const StageChain chain{make_blur({}), overlay, make_blur({.border = Border::wrap})};
  for (const int rows : {1, 7, 1000})
    EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {.band_rows = rows}), expected));
}

// A white mark keeps grey pictures grey, also if it is saved as RGBA.
TEST(Overlay, MakesAPictureRgbOnlyForColours) {
  Image mark({2, 1}, {4, 8});
  for (int c = 0; c < 4; ++c) {
    set_sample(mark, 0, 0, c, 200);
    set_sample(mark, 1, 0, c, c == 3 ? 0U : static_cast<std::uint32_t>(c));
  }
  const auto format_with = [&](const PixelFormat& input) {
    const auto stage = make_overlay(copy_of(mark), {}, "");
    return result_of(stage, {{9, 9}, input}).format;
  };
  EXPECT_EQ(format_with({1, 8}), (PixelFormat{1, 8}));
  EXPECT_EQ(format_with({4, 16}), (PixelFormat{4, 16}));
  set_sample(mark, 0, 0, 1, 201);
  EXPECT_EQ(format_with({1, 8}), (PixelFormat{3, 8}));
  EXPECT_EQ(format_with({2, 16}), (PixelFormat{4, 16}));
  EXPECT_EQ(format_with({3, 8}), (PixelFormat{3, 8}));
}

TEST(Overlay, IsWithinOneOfPillow) {
  const std::string python = "/usr/bin/python3";
  if (run_process({python, "-c", "import PIL"}).exit_code != 0)
    GTEST_SKIP() << "Pillow is not installed";
  const TemporaryFolder folder;
  const std::string below = folder / "below.png";
  const std::string above = folder / "above.png";
  const std::string both = folder / "both.png";
  write_png(mixed_alpha_image({301, 203}, {4, 8}, 1), below);
  write_png(mixed_alpha_image({301, 203}, {4, 8}, 2), above);
  const auto result = run_process({python, "-c",
                                   "import sys; from PIL import Image; a, b, c = sys.argv[1:]; "
                                   "Image.alpha_composite(Image.open(a), Image.open(b)).save(c)",
                                   below, above, both});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Image ours = filter_on_host(read_picture(below), {overlay_stage_kind().make(above)}, {});
  const Image theirs = read_picture(both);
  int largest = 0;
  for (const auto [x, y, c] : each_sample({301, 203}, 4))
    largest = std::max(largest, std::abs(static_cast<int>(sample_at(ours, x, y, c)) -
                                         static_cast<int>(sample_at(theirs, x, y, c))));
  EXPECT_LE(largest, 1);
}

// W3C Compositing and Blending Level 1: B(cb, cs), from 0 to 1.
double hard_light(double b, double s) {
  return s <= 0.5 ? b * 2 * s : b + (2 * s - 1) - b * (2 * s - 1);
}

double w3c_soft_light(double b, double s) {
  if (s <= 0.5) return b - (1 - 2 * s) * b * (1 - b);
  const double d = b <= 0.25 ? ((16 * b - 12) * b + 4) * b : std::sqrt(b);
  return b + (2 * s - 1) * (d - b);
}

struct Blending {
  BlendMode mode;
  double (*function)(double b, double s);
};

const std::vector<Blending>& blendings() {
  static const std::vector<Blending> all{
      {BlendMode::multiply, [](double b, double s) { return b * s; }},
      {BlendMode::screen, [](double b, double s) { return b + s - b * s; }},
      {BlendMode::overlay, [](double b, double s) { return hard_light(s, b); }},
      {BlendMode::soft_light, w3c_soft_light},
      {BlendMode::darken, [](double b, double s) { return std::min(b, s); }},
      {BlendMode::lighten, [](double b, double s) { return std::max(b, s); }},
      {BlendMode::difference, [](double b, double s) { return std::abs(b - s); }},
      {BlendMode::add, [](double b, double s) { return std::min(b + s, 1.0); }}};
  return all;
}

// Every pair of 8-bit samples, and as many of 16 bits.
TEST(Blend, RoundsEveryPairOfSamples) {
  for (const int depth : {8, 16}) {
    const std::uint32_t max = depth == 8 ? 255 : 65535;
    Image below({256, 256}, {1, depth});
    Image above({256, 256}, {1, depth});
    for (const auto [x, y] : each_pixel({256, 256})) {
      const auto sample = [&](int i) {
        const auto level = static_cast<std::uint32_t>(i);
        return depth == 8 ? level : std::min(level * 257 + level * 31 % 257, max);
      };
      set_sample(below, x, y, 0, sample(x));
      set_sample(above, x, y, 0, sample(y));
    }
    for (const Blending& each : blendings()) {
      const auto stage = make_overlay(copy_of(above), {.blend = each.mode}, "");
      const Image result = filter_on_host(below, {stage}, {});
      for (const auto [x, y] : each_pixel({256, 256})) {
        const double exact = max * each.function(sample_at(below, x, y, 0) / double(max),
                                                 sample_at(above, x, y, 0) / double(max));
        ASSERT_NEAR(sample_at(result, x, y, 0), exact, 0.503)
            << static_cast<int>(each.mode) << ' ' << x << ' ' << y;
      }
      expect_everywhere({stage}, below, result);
    }
  }
}

// The colour of a pixel by the W3C's formulas, from 0 to 1; b and s are colours, with their alphas.
double composited(const Blending& blending, double b, double alpha_b, double s, double alpha_s) {
  const double sum = alpha_s + alpha_b * (1 - alpha_s);
  const double mixed = (1 - alpha_b) * s + alpha_b * blending.function(b, s);
  return sum > 0 ? (alpha_s * mixed + (1 - alpha_s) * alpha_b * b) / sum : b;
}

TEST(Blend, IsWithinOneOfDoublePrecisionWithAnyAlpha) {
  for (const auto& [format, each] : each_of(all_formats(), blendings())) {
    const Image image = format.has_alpha() ? mixed_alpha_image({700, 17}, format, 3)
                                           : random_image({700, 17}, format, 3);
    const Image mark =
        mixed_alpha_image({700, 17}, {format.color_channels() == 1 ? 2 : 4, format.depth}, 4);
    const auto stage = make_overlay(copy_of(mark), {.opacity = 0.8, .blend = each.mode}, "");
    const Image result = filter_on_host(image, {stage}, {});
    const double max = format.max_sample();
    for (const auto [x, y, c] : each_sample({700, 17}, format.color_channels())) {
      const double alpha_b =
          format.has_alpha() ? sample_at(image, x, y, format.channels - 1) / max : 1;
      const double alpha_s =
          std::round(0.8 * sample_at(mark, x, y, mark.format().channels - 1)) / max;
      const double exact = max * composited(each, sample_at(image, x, y, c) / max, alpha_b,
                                            sample_at(mark, x, y, c) / max, alpha_s);
      ASSERT_NEAR(sample_at(result, x, y, c), exact, 1.01);
    }
    check_on_host(image, {stage}, result, {1, 1000});
    // Each is a program to compile: a mode meets both depths, with and without alpha.
    if (((format.channels + 1) / 2 + static_cast<int>(each.mode)) % 2 == 0)
      expect_everywhere({stage}, image, result);
  }
}

TEST(Overlay, KeyDependsOnPixelsPlaceAndOpacity) {
  const Image mark = random_image({3, 3}, {4, 8}, 1);
  const auto key = [](const Image& image, const OverlayPlace& place, double opacity) {
    return make_overlay(copy_of(image), {place, opacity}, "")->key();
  };
  const std::string own = key(mark, {}, 1);
  EXPECT_EQ(key(copy_of(mark), {}, 1), own);
  EXPECT_NE(key(random_image({3, 3}, {4, 8}, 2), {}, 1), own);
  EXPECT_NE(key(mark, {Gravity::north, {}, {}}, 1), own);
  EXPECT_NE(key(mark, {Gravity::center, {0}, {1}}, 1), own);
  EXPECT_NE(key(mark, {}, 0.5), own);
  EXPECT_NE(key(mark, {Gravity::center, {0}, {1, true}}, 1),
            key(mark, {Gravity::center, {0}, {1}}, 1));
  EXPECT_NE(make_overlay(copy_of(mark), {.width = Length{5}}, "")->key(), own);
  EXPECT_NE(make_overlay(copy_of(mark), {.tiled = true}, "")->key(), own);
  EXPECT_NE(make_overlay(copy_of(mark), {.blend = BlendMode::add}, "")->key(), own);
}

TEST(OverlayOption, RefusesOtherPlacesAndFiles) {
  for (const std::string value :
       {"", "middle", "auto", "southeast+", "southeast+1", "+1", "+1+", "southeast+1+2+3",
        "north +1+2", "+1x+2", "+12345678+0", "++1+2", "+1.5+2", "+1%", "+%+1"}) {
    EXPECT_EQ(objection_to([&] { return parse_overlay_place(value); }),
              "--at " + value +
                  ": write a position such as southeast or center, an offset such as +10+20, or "
                  "both: southeast+10+20");
  }
  const TemporaryFolder folder;
  const std::string missing = folder / "none.png";
  EXPECT_EQ(objection_to([&] { return overlay_stage_kind().make(missing); }),
            missing + ": no such file");
  const std::string damaged = folder / "damaged.png";
  write_file(damaged, "\x89PNG\r\n");
  EXPECT_TRUE(
      objection_to([&] { return overlay_stage_kind().make(damaged); }).starts_with(damaged));
}

}  // namespace
}  // namespace gpufilter::test
