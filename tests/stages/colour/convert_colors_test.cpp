// --to-srgb and --profile: what they are for a picture, and the same bits on devices.
// tests/cli/profiles_test.cpp compares them with Little CMS's own programs.
#include "image/icc.hpp"
#include "stages/colour/color.hpp"
#include "stages/colour/color_profile.hpp"
#include "stages/colour/linear.hpp"
#include "stages/window/blur.hpp"
#include "support/single_pixels.hpp"

namespace gpufilter::test {
namespace {

using Points = std::array<std::uint8_t, 4>;
using Rgb = std::array<double, 3>;
using ColorMatrix = std::array<Rgb, 3>;

// Light is the square of a sample, by sRGB's primaries.
Metadata square_law() {
  Metadata metadata;
  metadata.gamma = 50'000;
  return metadata;
}

Metadata with(const IccProfile& profile) {
  Metadata metadata;
  metadata.icc_profile = profile;
  return metadata;
}

IccProfile square_profile(int channels) {
  return *profile_of(square_law(), {channels, 8});
}

// sRGB's curve and its inverse.
double srgb_light(double x) {
  return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
}
double srgb_sample(double light) {
  return light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

TEST(ToSrgb, FollowsThePicturesProfile) {
  for (const PixelFormat& format : all_formats()) {
    Image image({256, 1}, format);
    const double max = format.max_sample();
    for (int x = 0; x < 256; ++x) {
      for (int c = 0; c < format.channels; ++c)
        set_sample(image, x, 0, c, static_cast<std::uint32_t>(x) * (format.max_sample() / 255));
    }
    for (const Metadata& metadata : {square_law(), with(square_profile(format.channels))}) {
      const LoweredChain chain = lowered({make_to_srgb({})}, format, metadata);
      const Image result = filter_on_host(image, chain, {});
      const int colors = result.format().color_channels();
      ASSERT_EQ(result.format(), (PixelFormat{format.has_alpha() ? 4 : 3, format.depth}));
      for (int x = 0; x < 256; ++x) {
        const double expected = srgb_sample(std::pow(x / 255.0, 2)) * max;
        for (int c = 0; c < colors; ++c)
          EXPECT_NEAR(sample_at(result, x, 0, c), expected, format.depth == 8 ? 2 : 257)
              << to_string(format) << " " << x;
        if (format.has_alpha()) {
          EXPECT_EQ(sample_at(result, x, 0, colors), sample_at(image, x, 0, format.channels - 1));
        }
      }
    }
  }
}

TEST(ToSrgb, LeavesPicturesWithoutProfile) {
  Metadata srgb_gamma;
  srgb_gamma.gamma = 45455;
  for (const auto& [format, metadata] : each_of(
           all_formats(), std::vector<Metadata>{Metadata(), srgb_gamma, with(srgb_profile())})) {
    if (metadata.icc_profile && format.color_channels() == 1) continue;
    const LoweredChain chain = lowered({make_to_srgb({})}, format, metadata);
    const Step& step = *chain.at(0).steps.at(0);
    EXPECT_TRUE(step.properties({{{9, 9}, format}}).changes_nothing);
    const Image image = random_image({300, 9}, format, 1);
    Image result = poisoned_image(image.size(), format);
    step.run(image.rows(), result.rows(), {image.size(), image.size()});
    EXPECT_TRUE(same_pixels(result, image));
    // A grey file cannot have a profile for RGB, and needs none.
    EXPECT_EQ(chain[0].profile != nullptr, format.color_channels() == 3);
  }
}

TEST(ToProfile, GivesItsColoursAndItsProfile) {
  const auto to_rgb = make_to_profile(square_profile(3), {}, "square.icc");
  const auto to_grey = make_to_profile(square_profile(1), {}, "grey.icc");
  for (const PixelFormat& format : all_formats()) {
    const int alpha = format.has_alpha() ? 1 : 0;
    const LoweredChain rgb = lowered({to_rgb}, format);
    const PictureShape shape{{9, 9}, format};
    EXPECT_EQ(output_of(rgb, shape).format, (PixelFormat{3 + alpha, format.depth}));
    EXPECT_EQ(rgb[0].profile->data, square_profile(3).data);
    const LoweredChain grey = lowered({to_grey}, format);
    EXPECT_EQ(output_of(grey, shape).format, (PixelFormat{1 + alpha, format.depth}));
    EXPECT_EQ(grey[0].profile->data, square_profile(1).data);
    // White stays white.
    Image white({1, 1}, format);
    for (int c = 0; c < format.channels; ++c)
      set_sample(white, 0, 0, c, format.max_sample());
    for (const LoweredChain& chain : {rgb, grey}) {
      const Image result = filter_on_host(white, chain, {});
      for (int c = 0; c < result.format().channels; ++c)
        EXPECT_EQ(sample_at(result, 0, 0, c), format.max_sample());
    }
  }
}

TEST(ToProfile, AndBackIsNearby) {
  const Image image = random_image({64, 64}, {3, 16}, 1);
  const LoweredChain chain =
      lowered({make_to_profile(square_profile(3), {}, "square.icc"), make_to_srgb({})}, {3, 16});
  const Image result = filter_on_host(image, chain, {});
  for (const auto [x, y] : each_pixel({64, 64}))
    EXPECT_NEAR(sample_at(result, x, y, 1), sample_at(image, x, y, 1), 900);
}

// Alone, first, last, between kernels, and twice: devices give the processor's bits.
TEST(ConvertColors, StandsAnywhereInAChainOnEveryDevice) {
  const auto wide = make_to_profile(square_profile(3), {}, "square.icc");
  const auto blur = make_blur({.border = Border::wrap});
  const auto color = make_color(to_matrix({{0.5, 0.25, 0}, {0, 1, 0}, {0.25, 0, 0.75}}), "");
  const std::vector<StageChain> chains{
      {wide},       {wide, make_to_srgb({})}, {wide, blur},
      {blur, wide}, {color, wide, blur},      {wide, blur, make_to_srgb({}), color}};
  for (const PixelFormat& format : {PixelFormat{3, 8}, PixelFormat{2, 16}}) {
    const Image image = random_image({33, 40}, format, 2);
    for (const StageChain& asked : chains) {
      if (format.channels == 2 && asked.size() != 3) continue;
      const LoweredChain chain = lowered(asked, format);
      const Image expected = filter_on_host(image, chain, {.band_rows = 1000});
      EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {.band_rows = 3}), expected));
      for (Session* session : kernel_sessions(format)) {
        for (const int rows : {7, 1000}) {
          EXPECT_TRUE(
              same_pixels(filter_on_device(*session, image, chain, {.band_rows = rows}), expected));
        }
      }
    }
  }
}

// They count as none.
TEST(ConvertColors, WarnsOfProfilesThatDoNotFit) {
  const auto reason = [](const PixelFormat& format, const Metadata& metadata) {
    const LoweredChain chain = lowered({make_to_srgb({})}, format, metadata);
    const std::string& warning = chain.at(0).warning;
    if (warning.empty()) return std::string("none");
    const PictureShape shape{{3, 3}, format};
    EXPECT_TRUE(chain[0].steps.at(0)->properties({shape}).changes_nothing);
    const std::string begin = "--to-srgb: the ICC profile ";
    const std::string end = "; its colours count as sRGB";
    EXPECT_TRUE(warning.starts_with(begin) && warning.ends_with(end)) << warning;
    return warning.substr(begin.size(), warning.size() - begin.size() - end.size());
  };
  // The profile with `text` from a byte on.
  const auto changed = [](std::size_t at, std::string_view text) {
    IccProfile profile = square_profile(3);
    std::copy(text.begin(), text.end(), profile.data.begin() + static_cast<std::ptrdiff_t>(at));
    return with(profile);
  };
  IccProfile damaged = square_profile(3);
  damaged.data.resize(100);
  EXPECT_EQ(reason({3, 8}, with(damaged)), "is damaged");
  EXPECT_EQ(reason({3, 8}, with({"icc", {}})), "is damaged");
  EXPECT_EQ(reason({3, 8}, with(square_profile(1))), "is for grey, but the picture is RGB");
  EXPECT_EQ(reason({1, 8}, with(square_profile(1))), "none");
  EXPECT_EQ(reason({1, 8}, with(square_profile(3))), "none");
  EXPECT_EQ(reason({3, 8}, changed(12, "link")), "does not describe pixels");
  EXPECT_EQ(reason({3, 8}, changed(16, "CMYK")), "is for CMYK, but the picture is RGB");
  const Bytes& data = square_profile(3).data;
  const std::size_t tag = std::string(data.begin(), data.end()).find("rXYZ");
  ASSERT_LT(tag, data.size());
  EXPECT_EQ(reason({3, 8}, changed(tag, "x")), "has no tables for this conversion");
  EXPECT_EQ(reason({3, 8}, changed(8, "\5")), "has version 5 (iccMAX)");
}

TEST(ConvertColors, TellsLaterStagesOfTheProfile) {
  const auto wide = make_to_profile(square_profile(3), {}, "square.icc");
  const LoweredChain chain =
      lowered({make_linear({}), make_encoded({}, 8), wide, make_linear({})}, {3, 8});
  EXPECT_EQ(chain[0].title.label, "sRGB curve");
  const LoweredChain direct = lowered({make_linear({})}, {3, 8}, with(square_profile(3)));
  EXPECT_EQ(chain[3].title.label, direct[0].title.label);
  EXPECT_NE(chain[3].title.label, "sRGB curve");
}

TEST(ConvertColors, IsRefusedInLinearLightAndKeyDependsOnTargetAndUse) {
  EXPECT_EQ(objection_to([] {
              return with_light_ends({make_linear({}), make_to_srgb({}), make_encoded({}, 8)});
            }),
            "--to-srgb: the stages here work in linear light; put it before --linear or after "
            "--encoded");
  EXPECT_EQ(with_light_ends({make_to_srgb({}), make_linear({})}).size(), 3U);
  const std::string own = make_to_srgb({})->key();
  EXPECT_EQ(make_to_srgb({})->key(), own);
  EXPECT_NE(make_to_srgb({.intent = RenderingIntent::perceptual})->key(), own);
  EXPECT_NE(make_to_srgb({.black_point_compensation = false})->key(), own);
  EXPECT_NE(make_to_profile(square_profile(3), {}, "")->key(), own);
}

// Otherwise every run would embed another profile.
TEST(SrgbProfile, IsAlwaysTheSame) {
  const Bytes& data = srgb_profile().data;
  ASSERT_GT(data.size(), 128U);
  EXPECT_EQ(Bytes(data.begin() + 24, data.begin() + 36),
            (Bytes{0x07, 0xea, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(colors_of(srgb_profile()), ProfileColors::rgb);
}

// Colours named by code points, and by gamma and chromaticity: converted as their formulas say.

constexpr ColorMatrix from_p3{{{1.2249401763, -0.2249401763, 0},
                               {-0.0420569547, 1.0420569547, 0},
                               {-0.0196375546, -0.0786360456, 1.0982736001}}};
constexpr ColorMatrix from_2020{{{1.6604910021, -0.5876411388, -0.0728498633},
                                 {-0.1245504745, 1.1328998971, -0.0083494226},
                                 {-0.0181507634, -0.1005788980, 1.1187296614}}};
constexpr ColorMatrix same_primaries{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

double video_light(double x) {
  return x < 0.081 ? x / 4.5 : std::pow((x + 0.099) / 1.099, 1 / 0.45);
}

Metadata with_points(const Points& points) {
  Metadata metadata;
  metadata.coding_points = points;
  return metadata;
}

// Every pixel of a picture within 1 of the formula, where that is within the range. Not with 16
// bits: Little CMS then interpolates between 33 nodes, and dark, saturated colours are up to 3 %
// off.
void expect_converted(const Metadata& metadata, const ColorMatrix& matrix,
                      const std::function<double(double)>& light) {
  const PixelFormat format{3, 8};
  const Image image = random_image({61, 43}, format, 11);
  const LoweredChain chain = lowered({make_to_srgb({})}, format, metadata);
  EXPECT_EQ(chain.at(0).warning, "");
  const Image result = filter_on_host(image, chain, {});
  const double max = format.max_sample();
  for (const auto [x, y] : each_pixel({61, 43})) {
    Rgb in{};
    for (int c = 0; c < 3; ++c)
      in.at(c) = light(sample_at(image, x, y, c) / max);
    Rgb out{};
    for (int c = 0; c < 3; ++c)
      out.at(c) = matrix.at(c)[0] * in[0] + matrix.at(c)[1] * in[1] + matrix.at(c)[2] * in[2];
    if (*std::min_element(out.begin(), out.end()) < 0.01 ||
        *std::max_element(out.begin(), out.end()) > 0.99) {
      continue;
    }
    for (int c = 0; c < 3; ++c) {
      ASSERT_NEAR(sample_at(result, x, y, c), max * srgb_sample(out.at(c)), 1)
          << x << ' ' << y << ' ' << c;
    }
  }
}

TEST(NamedColors, AreConvertedByTheirFormulasAndOfSrgbStayAndComeBeforeTheProfile) {
  expect_converted(with_points({12, 13, 0, 1}), from_p3, srgb_light);
  expect_converted(with_points({1, 1, 0, 1}), same_primaries, video_light);
  expect_converted(with_points({9, 14, 0, 1}), from_2020, video_light);
  expect_converted(with_points({9, 15, 0, 1}), from_2020, video_light);
  expect_converted(with_points({1, 8, 0, 1}), same_primaries, [](double x) { return x; });
  expect_converted(with_points({12, 4, 0, 1}), from_p3, [](double x) { return std::pow(x, 2.2); });
  Metadata numbers;
  numbers.gamma = 55'556;
  numbers.chromaticity = {31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000};
  expect_converted(numbers, from_p3, [](double x) { return std::pow(x, 1 / 0.55556); });
  EXPECT_EQ(profile_of(with_points({1, 13, 0, 1}), {3, 8}), nullptr);
  EXPECT_EQ(profile_of({}, {3, 8}), nullptr);
  // Code points count, whatever profile stands beside them.
  Metadata both = with_points({12, 13, 0, 1});
  both.icc_profile = *profile_of(with_points({9, 14, 0, 1}), {3, 8});
  expect_converted(both, from_p3, srgb_light);
  both.coding_points = Points{1, 13, 0, 1};
  EXPECT_EQ(profile_of(both, {3, 8}), nullptr);
}

TEST(NamedColors, HaveNames) {
  const auto name = [](const Metadata& metadata) { return name_of(*profile_of(metadata, {3, 8})); };
  EXPECT_EQ(name(with_points({12, 13, 0, 1})), "Display P3");
  EXPECT_EQ(name(with_points({1, 1, 0, 1})), "BT.709");
  EXPECT_EQ(name(with_points({9, 14, 0, 1})), "BT.2020");
  EXPECT_EQ(name(with_points({9, 8, 0, 1})), "BT.2020 primaries, cICP transfer 8");
  Metadata numbers;
  numbers.gamma = 50'000;
  EXPECT_EQ(name(numbers), "gamma 2");
  EXPECT_EQ(icc_color_space(profile_of(numbers, {1, 8})->data), "GRAY");
}

TEST(NamedColors, OfHdrAreRefusedAndThatAreUnknownCountAsSrgb) {
  for (const auto& [transfer, name] : {std::pair{16, "PQ"}, {18, "HLG"}}) {
    const Metadata points = with_points({9, static_cast<std::uint8_t>(transfer), 0, 1});
    EXPECT_EQ(objection_to<RefusedColors>([&] {
                return profile_of(points, {3, 8});
              }),
              std::string("its colours are HDR (") + name +
                  "), which other colour spaces cannot represent: map their tones with another "
                  "program first");
  }
  for (const Points& points : {Points{2, 2, 0, 1}, Points{12, 2, 0, 1}, Points{10, 13, 0, 1},
                               Points{12, 13, 0, 0}, Points{12, 13, 1, 1}}) {
    const LoweredChain chain = lowered({make_to_srgb({})}, {3, 8}, with_points(points));
    EXPECT_TRUE(contains(chain.at(0).warning, "are not supported; its colours count as sRGB"));
    const PictureShape shape{{4, 4}, {3, 8}};
    EXPECT_TRUE(chain[0].steps.at(0)->properties({shape}).changes_nothing);
  }
}

// --linear and --encoded: within 1 of double precision, lossless for 8 bits, the same everywhere.

LightCurves curves_of(const TransferCurve& red, const TransferCurve& green,
                      const TransferCurve& blue) {
  return {{red, green, blue}, "three curves"};
}
LightCurves power_curves(double gamma) {
  const TransferCurve curve{.gamma = gamma};
  return curves_of(curve, curve, curve);
}

// The largest difference of a table from `expected`, in levels.
template <typename Function>
double deviation(const LightTable& table, double max, const Function& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(table.size() - 1);
    largest = std::max(largest, std::abs(table[i] - max * expected(share)));
  }
  return largest;
}

TEST(LightTables, OfSrgbAreNearestAndOfPowersAreWithinOne) {
  constexpr double nearest = 0.5001;
  for (const int bits : {8, 16}) {
    const double max = (1 << bits) - 1;
    EXPECT_LT(deviation(*linear_tables({}, bits)[0], 65535, srgb_light), nearest) << bits;
    // The standard's two formulas for encoding meet at a rounded number.
    EXPECT_LT(deviation(*encoded_tables({}, 16, bits)[0], max, srgb_sample), nearest) << bits;
    EXPECT_LT(deviation(*encoded_tables({}, 8, bits)[0], max, srgb_sample), nearest) << bits;
  }
  for (const double gamma : {0.45, 1.0, 1.8, 2.0, 2.2, 2.6}) {
    const auto light = [&](double x) { return std::pow(x, gamma); };
    const auto sample = [&](double x) { return std::pow(x, 1 / gamma); };
    for (const int bits : {8, 16}) {
      const double max = (1 << bits) - 1;
      EXPECT_LE(deviation(*linear_tables(power_curves(gamma), bits)[0], 65535, light), 1) << gamma;
      const LightTable encoded = *encoded_tables(power_curves(gamma), 16, bits)[0];
      EXPECT_LE(deviation(encoded, max, sample), 1) << gamma << ", " << bits << " bits";
      EXPECT_TRUE(std::is_sorted(encoded.begin(), encoded.end())) << gamma;
    }
  }
}

// With a power of 2.2, the second sample's light is below half a level.
TEST(LightTables, KeepEverySampleOf8BitsAndOfAFlatCurveKeepBlackAndWhite) {
  std::vector<LightCurves> all{{}};
  for (const double gamma : {0.45, 1.0, 1.5, 1.8, 2.0, 2.2})
    all.push_back(power_curves(gamma));
  for (const LightCurves& curves : all) {
    const LightTable linear = *linear_tables(curves, 8)[0];
    const LightTable encoded = *encoded_tables(curves, 16, 8)[0];
    for (std::size_t i = 0; i < linear.size(); ++i)
      EXPECT_EQ(encoded[linear[i]], i) << curves.colors[0].gamma;
  }
  const TransferCurve flat{.table = {0, 0, 0, 30000, 60000, 60000}};
  const LightCurves curves = curves_of(flat, flat, flat);
  for (const int bits : {8, 16}) {
    const LightTable encoded = *encoded_tables(curves, 16, bits)[0];
    EXPECT_EQ(encoded.front(), 0);
    EXPECT_EQ(encoded.back(), (1 << bits) - 1);
  }
}

TEST(Linear, IsTheSameEverywhere) {
  const TransferCurve table{.table = {0, 1000, 30000, 65535}};
  const LightCurves curves = curves_of(srgb_curve(), {.gamma = 2.2}, table);
  for (const PixelFormat& format : all_formats()) {
    const LightTables linear = linear_tables(curves, format.depth);
    const auto look_up = [&](const LightTables& tables, const Samples& pixel) {
      Samples out = pixel;
      for (std::size_t c = 0; c < 3; ++c)
        out.at(c) = (*tables.at(format.color_channels() == 1 ? 1 : c)).at(pixel.at(c));
      return out;
    };
    const auto alpha = static_cast<std::size_t>(format.channels - 1);
    const Image image = random_image({103, 21}, format, 1);
    const PixelFormat deep{format.channels, 16};
    const Image light = mapped(image, deep, [&](const Samples& pixel) {
      Samples out = look_up(linear, pixel);
      if (format.has_alpha()) out.at(alpha) = pixel.at(alpha) * (format.depth == 8 ? 257 : 1);
      return out;
    });
    expect_everywhere({make_linear(curves)}, image, light);
    const LightTables encoded = encoded_tables(curves, 16, format.depth);
    const Image noise = random_image({103, 21}, deep, 2);
    const Image back = mapped(noise, format, [&](const Samples& pixel) {
      Samples out = look_up(encoded, pixel);
      if (format.has_alpha()) {
        out.at(alpha) =
            format.depth == 16 ? pixel.at(alpha) : (pixel.at(alpha) * 255 + 32767) / 65535;
      }
      return out;
    });
    expect_everywhere({make_encoded(curves, format.depth)}, noise, back);
  }
}

TEST(Linear, TakesLightOf8BitsToo) {
  const Image image = random_image({33, 5}, {3, 8}, 4);
  const LoweredChain chain =
      lowered({make_linear({}), stage_of("--depth 8"), make_encoded({}, 8)}, image.format());
  const LightTable encoded = *encoded_tables({}, 8, 8)[0];
  const LightTable linear = *linear_tables({}, 8)[0];
  const Image expected = mapped(image, image.format(), [&](Samples pixel) {
    for (std::uint32_t& sample : pixel)
      sample = encoded.at((linear.at(sample) * 255U + 32767) / 65535);
    return pixel;
  });
  EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {}), expected));
}

TEST(Linear, AndBackChangesNothingIn8Bits) {
  for (const int channels : {1, 2, 3, 4}) {
    const Image image = random_image({64, 40}, {channels, 8}, 3);
    Metadata metadata;
    metadata.gamma = 45455;
    for (const Metadata& of : {Metadata(), metadata}) {
      const LoweredChain chain =
          lowered({make_linear({}), make_encoded({}, 16)}, image.format(), of);
      EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {}), image));
    }
  }
}

TEST(Linear, HasThePicturesCurvesAndDepth) {
  Metadata metadata;
  metadata.gamma = 50000;
  const StageChain chain{stage_of("--depth 16"), make_linear({}),       make_blur({}),
                         make_encoded({}, 8),    stage_of("--depth 8"), make_linear({}),
                         make_encoded({}, 16)};
  const LoweredChain own = lowered(chain, {3, 8}, metadata);
  ASSERT_EQ(own.size(), chain.size());
  PictureShape shape{{9, 9}, {3, 8}};
  std::vector<int> depths;
  for (const LoweredStage& stage : own) {
    shape = output_of(stage, shape);
    depths.push_back(shape.format.depth);
  }
  EXPECT_EQ(depths, (std::vector<int>{16, 16, 16, 16, 8, 16, 8}));
  EXPECT_EQ(own[1].title.label, "gamma 2");
  EXPECT_EQ(own[6].title.label, "gamma 2");
}

TEST(Linear, EndsWithTheChainAndOutOfPlaceIsRefused) {
  const StageChain ended = with_light_ends({make_linear({}), make_blur({})});
  ASSERT_EQ(ended.size(), 3U);
  EXPECT_EQ(ended.back()->name(), "encoded");
  EXPECT_EQ(with_light_ends({make_linear({}), make_encoded({}, 8), make_blur({})}).size(), 3U);
  EXPECT_EQ(with_light_ends({make_blur({})}).size(), 1U);
  EXPECT_EQ(objection_to([] { return with_light_ends({make_encoded({}, 8)}); }),
            "--encoded: there is no --linear before it to end");
  EXPECT_EQ(objection_to([] {
              return with_light_ends({make_linear({}), make_blur({}), make_linear({})});
            }),
            "--linear: the stages here already work in linear light; put --encoded before it");
}

}  // namespace
}  // namespace gpufilter::test
