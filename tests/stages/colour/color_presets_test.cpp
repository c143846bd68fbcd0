// The presets against the numbers that were published for them.

#include "stages/colour/color.hpp"
#include "support/filtering.hpp"

namespace gpufilter::test {
namespace {

using Pixel = std::vector<std::uint32_t>;

MatrixRows rows_of(const std::string& value) {
  const auto rows = find_color_preset(value);
  return rows ? *rows : MatrixRows{};
}

// One pixel through a preset.
Pixel filtered(const std::string& value, const Pixel& pixel, int depth = 8) {
  const PixelFormat format{static_cast<int>(pixel.size()), depth};
  Image image({1, 1}, format);
  for (int c = 0; c < format.channels; ++c)
    set_sample(image, 0, 0, c, pixel[static_cast<std::size_t>(c)]);
  const Image result = filter_on_host(image, {make_color(to_matrix(rows_of(value)), value)}, {});
  Pixel samples;
  for (int c = 0; c < result.format().channels; ++c)
    samples.push_back(sample_at(result, 0, 0, c));
  return samples;
}

std::string preset_objection(const std::string& value) {
  return objection_to([&] { return find_color_preset(value); });
}

// https://www.w3.org/TR/filter-effects-1/
TEST(ColorPresets, AreThoseOfFilterEffects) {
  const std::vector<double> luminance{0.2126, 0.7152, 0.0722};
  EXPECT_EQ(rows_of("grayscale"), (MatrixRows{luminance, luminance, luminance}));
  EXPECT_EQ(
      rows_of("grayscale=0.5"),
      (MatrixRows{{0.6063, 0.3576, 0.0361}, {0.1063, 0.8576, 0.0361}, {0.1063, 0.3576, 0.5361}}));
  EXPECT_EQ(rows_of("sepia"),
            (MatrixRows{{0.393, 0.769, 0.189}, {0.349, 0.686, 0.168}, {0.272, 0.534, 0.131}}));
  EXPECT_EQ(rows_of("sepia=0.5"),
            (MatrixRows{{0.6965, 0.3845, 0.0945}, {0.1745, 0.843, 0.084}, {0.136, 0.267, 0.5655}}));
  EXPECT_EQ(rows_of("invert"), (MatrixRows{{-1, 0, 0, 1}, {0, -1, 0, 1}, {0, 0, -1, 1}}));
  EXPECT_EQ(rows_of("invert=0.25"),
            (MatrixRows{{0.5, 0, 0, 0.25}, {0, 0.5, 0, 0.25}, {0, 0, 0.5, 0.25}}));
  EXPECT_EQ(rows_of("brightness=2"), (MatrixRows{{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}));
  EXPECT_EQ(rows_of("contrast=2"), (MatrixRows{{2, 0, 0, -.5}, {0, 2, 0, -.5}, {0, 0, 2, -.5}}));
  EXPECT_EQ(rows_of("opacity=0.25"),
            (MatrixRows{{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 0.25, 0}}));
  EXPECT_EQ(rows_of("saturate=0"),
            (MatrixRows{{0.213, 0.715, 0.072}, {0.213, 0.715, 0.072}, {0.213, 0.715, 0.072}}));
  EXPECT_EQ(
      rows_of("saturate=2"),
      (MatrixRows{{1.787, -0.715, -0.072}, {-0.213, 1.285, -0.072}, {-0.213, -0.715, 1.928}}));
  EXPECT_EQ(
      rows_of("luminance-to-alpha"),
      (MatrixRows{
          {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0.2125, 0.7154, 0.0721, 0, 0}}));
}

// feColorMatrix's hueRotate, its sums worked out by hand.
TEST(ColorPresets, HueAtQuarterTurns) {
  const MatrixRows quarter{{0, 0, 1}, {0.356, 0.855, -0.211}, {-0.574, 1.43, 0.144}};
  EXPECT_EQ(rows_of("hue=90"), quarter);
  EXPECT_EQ(rows_of("hue=90deg"), quarter);
  EXPECT_EQ(rows_of("hue=-270"), quarter);
  EXPECT_EQ(rows_of("hue-rotate=450"), quarter);
  EXPECT_EQ(rows_of("hue=180"),
            (MatrixRows{{-0.574, 1.43, 0.144}, {0.426, 0.43, 0.144}, {0.426, 1.43, -0.856}}));
  EXPECT_EQ(rows_of("hue=270"),
            (MatrixRows{{0.426, 1.43, -0.856}, {0.07, 0.575, 0.355}, {1, 0, 0}}));
}

TEST(ColorPresets, HueIsTheFormulaRoundedToNineDecimals) {
  for (double degrees = -720; degrees <= 720; degrees += 0.75) {
    const MatrixRows rows = rows_of("hue=" + std::to_string(degrees));
    const double s = std::sin(degrees * M_PI / 180);
    const double c = std::cos(degrees * M_PI / 180);
    const MatrixRows expected{{0.213 + c * 0.787 - s * 0.213, 0.715 - c * 0.715 - s * 0.715,
                               0.072 - c * 0.072 + s * 0.928},
                              {0.213 - c * 0.213 + s * 0.143, 0.715 + c * 0.285 + s * 0.140,
                               0.072 - c * 0.072 - s * 0.283},
                              {0.213 - c * 0.213 - s * 0.787, 0.715 - c * 0.715 + s * 0.715,
                               0.072 + c * 0.928 + s * 0.072}};
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t k = 0; k < 3; ++k) {
        ASSERT_NEAR(rows[row][k], expected[row][k], 0.51e-9) << degrees;
        ASSERT_EQ(rows[row][k], std::round(rows[row][k] * 1e9) / 1e9) << degrees;
      }
    }
  }
}

TEST(ColorPresets, NoEffectIsExactlyTheIdentityAndGreyStaysGrey) {
  for (const std::string value :
       {"grayscale=0", "sepia=0%", "invert=0", "saturate=1", "hue=0", "hue=360", "hue=-720",
        "brightness=1", "contrast=100%", "opacity=1"}) {
    EXPECT_TRUE(to_matrix(rows_of(value)).is_identity()) << value;
  }
  for (const std::string value :
       {"grayscale", "grayscale=0.3", "rec601", "rec2020", "average", "saturate=3.7", "hue=33",
        "swap-rb", "red-channel", "protanopia", "deuteranopia", "tritanopia"}) {
    for (std::uint32_t grey = 0; grey < 256; ++grey)
      ASSERT_EQ(filtered(value, {grey, grey, grey}), (Pixel{grey, grey, grey})) << value;
  }
}

TEST(ColorPresets, PixelsWorkedOutByHand) {
  EXPECT_EQ(filtered("sepia", {255, 255, 255}), (Pixel{255, 255, 239}));
  EXPECT_EQ(filtered("sepia", {10, 20, 30}), (Pixel{25, 22, 17}));
  EXPECT_EQ(filtered("grayscale", {255, 0, 0}), (Pixel{54, 54, 54}));
  EXPECT_EQ(filtered("rec601", {0, 255, 0}), (Pixel{150, 150, 150}));
  EXPECT_EQ(filtered("rec2020", {0, 0, 65535}, 16), (Pixel{3886, 3886, 3886}));
  EXPECT_EQ(filtered("average", {1, 2, 9}), (Pixel{4, 4, 4}));
  EXPECT_EQ(filtered("negate", {0, 100, 255, 7}), (Pixel{255, 155, 0, 7}));
  EXPECT_EQ(filtered("bgr", {1, 2, 3}), (Pixel{3, 2, 1}));
  EXPECT_EQ(filtered("contrast=2", {0, 128, 200}), (Pixel{0, 128, 255}));  // 128.5 to even
  EXPECT_EQ(filtered("opacity=50%", {1, 2, 3}), (Pixel{1, 2, 3, 128}));    // 127.5 to even
  EXPECT_EQ(filtered("opacity=50%", {9, 100}), (Pixel{9, 9, 9, 50}));
  EXPECT_EQ(filtered("luminance-to-alpha", {255, 255, 255}), (Pixel{0, 0, 0, 255}));
  EXPECT_EQ(filtered("luminance-to-alpha", {0, 100, 0, 9}), (Pixel{0, 0, 0, 72}));
  EXPECT_EQ(filtered("alpha-channel", {1, 2, 3, 77}), (Pixel{77, 77, 77, 255}));
  EXPECT_EQ(filtered("opaque", {1, 2, 3, 0}), (Pixel{1, 2, 3, 255}));
  EXPECT_EQ(filtered("blue-channel", {1, 2, 3, 4}), (Pixel{3, 3, 3, 4}));
  EXPECT_EQ(filtered("protanopia", {255, 0, 0}), (Pixel{39, 29, 0}));
}

// The primaries in JFIF's YCbCr, which every JPEG library agrees on.
TEST(ColorPresets, YcbcrIsJfifsAndYcbcrAndBackIsNear) {
  EXPECT_EQ(filtered("ycbcr", {255, 0, 0}), (Pixel{76, 85, 255}));
  EXPECT_EQ(filtered("ycbcr", {0, 255, 0}), (Pixel{150, 44, 21}));
  EXPECT_EQ(filtered("ycbcr", {0, 0, 255}), (Pixel{29, 255, 107}));
  EXPECT_EQ(filtered("ycbcr", {255, 255, 255}), (Pixel{255, 128, 128}));
  EXPECT_EQ(filtered("ycbcr", {1000, 1000, 1000}, 16), (Pixel{1000, 32896, 32896}));
  EXPECT_EQ(filtered("from-ycbcr", {76, 85, 255}), (Pixel{254, 0, 0}));
  EXPECT_EQ(filtered("from-ycbcr", {90, 128, 128}), (Pixel{90, 90, 90}));
  const Image image = random_image({64, 64}, {3, 16}, 11);
  const Image back = filter_on_host(image,
                                    {make_color(to_matrix(rows_of("ycbcr")), ""),
                                     make_color(to_matrix(rows_of("from-ycbcr")), "")},
                                    {});
  for (int i = 0; i < 64 * 64 * 3; ++i) {
    const int x = i / 3 % 64;
    const int y = i / 192;
    ASSERT_NEAR(sample_at(back, x, y, i % 3), sample_at(image, x, y, i % 3), 2);
  }
}

TEST(ColorPresets, RefuseAmountsThatMakeNoSense) {
  EXPECT_EQ(preset_objection("sepia=2"), "--color sepia=2: the amount must be between 0 and 1");
  EXPECT_EQ(preset_objection("invert=101%"),
            "--color invert=101%: the amount must be between 0 and 1");
  EXPECT_EQ(preset_objection("saturate=-0.1"),
            "--color saturate=-0.1: the amount must be between 0 and 1000000");
  EXPECT_EQ(preset_objection("hue"), "--color hue: needs an amount, such as hue=90");
  EXPECT_EQ(preset_objection("saturate"),
            "--color saturate: needs an amount, such as saturate=1.5");
  EXPECT_EQ(preset_objection("bgr=1"), "--color bgr=1: bgr takes no amount");
  EXPECT_EQ(preset_objection("sepia="), "--color sepia=: '' is not a number");
  EXPECT_EQ(preset_objection("sepia=x"), "--color sepia=x: 'x' is not a number");
  EXPECT_EQ(preset_objection("hue=90%"), "--color hue=90%: '90%' is not a number");
  EXPECT_EQ(preset_objection("hue=nan"), "--color hue=nan: 'nan' is not a number");
  EXPECT_EQ(preset_objection("brightness=1e7"),
            "--color brightness=1e7: the amount must be between 0 and 1000000");
}

TEST(ColorPresets, OtherNamesAreNoPresetsAndKnowWhatMayHaveBeenMeantAndHaveNamesOfTheirOwn) {
  for (const std::string value : {"", "=", "=1", "Sepia", "sepia ", "sepia.txt", "./sepia"})
    EXPECT_FALSE(find_color_preset(value).has_value()) << value;
  using Names = std::vector<std::string>;
  EXPECT_EQ(color_presets_like("sepai"), Names{"sepia"});
  EXPECT_EQ(color_presets_like("sepa"), Names{"sepia"});
  EXPECT_EQ(color_presets_like("grayscal=0.5"), (Names{"grayscale", "greyscale"}));
  EXPECT_EQ(color_presets_like("protanope"), Names{"protanopia"});
  EXPECT_EQ(color_presets_like("inverted"), Names{"invert"});
  EXPECT_EQ(color_presets_like("bright"), Names{"brightness"});
  EXPECT_EQ(color_presets_like("warm.txt"), Names{});
  EXPECT_EQ(color_presets_like(""), Names{});
  std::set<std::string_view> names;
  for (const ColorPreset& preset : color_preset_table()) {
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    if (preset.alias.empty()) continue;
    EXPECT_TRUE(names.insert(preset.alias).second) << preset.alias;
    const bool needs = preset.amount == ColorPreset::Amount::required;
    const std::string amount = needs ? "=0.5" : "";
    EXPECT_EQ(rows_of(std::string(preset.name) + amount),
              rows_of(std::string(preset.alias) + amount));
  }
}

// The matrix that the list shows for a preset, as a file for --color.
std::string listed(const std::string& name) {
  std::istringstream lines(color_preset_list());
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# " + name, 0) == 0) {
      const char after = line.size() == name.size() + 2 ? ' ' : line[name.size() + 2];
      inside = after == ' ' || after == '[' || after == '=' || after == ',';
    }
    if (line.empty()) inside = false;
    if (inside) text += line + "\n";
  }
  return text;
}

TEST(ColorPresets, TheListHoldsEveryMatrixToTheBit) {
  for (const ColorPreset& preset : color_preset_table()) {
    const std::string name(preset.name);
    const std::string text = listed(name);
    std::ostringstream amount;
    amount << preset.shown;
    const bool takes = preset.amount != ColorPreset::Amount::none;
    EXPECT_EQ(parse_color_matrix(text, name),
              to_matrix(rows_of(takes ? name + "=" + amount.str() : name)))
        << text;
    EXPECT_TRUE(contains(text, preset.source)) << name;
    EXPECT_TRUE(contains(text, preset.meaning)) << name;
  }
}

}  // namespace
}  // namespace gpufilter::test
