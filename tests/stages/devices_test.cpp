// Every device gives the processor's bits: a row of the tables names chains, as words of the
// command line, with the formats, pictures and bands that reach all of their kernels. The tests of
// each stage compare the processor with a second implementation.

#include "net/pixel/mlp.hpp"
#include "stages/colour/color.hpp"
#include "stages/point/lookup.hpp"
#include "stages/window/blur.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

using Words = std::vector<std::string>;

// "@" in the words stands for a border and an alpha mode, which take turns.
struct Row {
  const char* name;
  Words chains;
  DeviceCases cases = {};
};

void PrintTo(const Row& row, std::ostream* out) {  // NOLINT(*-identifier-naming)
  *out << row.name;
}

std::vector<Image> dull(ImageSize size, PixelFormat format) {
  return window_pictures_and_dull(size, format, 16);
}

std::vector<Image> duller(ImageSize size, PixelFormat format) {
  return window_pictures_and_dull(size, format, 8);
}

// The rectangles touch each edge of a picture of 67x37 pixels, and none.
const Words crop_rectangles{"67x37+0+0", "1x1+0+0",   "1x1+66+36", "66x1+1+36", "1x37+33+0",
                            "65x35+1+1", "16x9+13+7", "3x30+64+7", "64x20+3+17"};
const Words borders{"replicate", "mirror", "wrap", "constant"};

std::string with(std::string text, char mark, const std::string& word) {
  for (std::size_t at = 0; (at = text.find(mark, at)) < text.size(); at += word.size())
    text.replace(at, 1, word);
  return text;
}

// `text` with each of the words in the place of "$".
Words each_in(const std::string& text, const Words& words) {
  Words all;
  for (const std::string& word : words)
    all.push_back(with(text, '$', word));
  return all;
}

// The rectangle's edges are those of the picture for the stages after it.
Words crops_among_blurs() {
  Words all;
  for (const std::string& rectangle : crop_rectangles) {
    for (const std::string& words : each_in(
             "--blur auto --border $ --blur auto --border $ --crop " + rectangle +
                 " --blur auto --border $ --color \"0 0 1; 0 1 0; 0.5 0 0\" --blur auto --border $",
             borders))
      all.push_back(words);
  }
  return all;
}

// Each order of two matrices and a blur.
Words colors_and_blur() {
  Words parts{"--color \"1.2 0.1 0 0.02; 0 1 0 0; 0 -0.1 0.8 -0.01\" ",
              "--color \"1 0 0 0; 0 1 0 0; 0 0 1 0; .2 .2 .1 .5\" ", "--blur tiled --tile 8 "};
  Words all;
  std::ranges::sort(parts);
  do
    all.push_back(parts[0] + parts[1] + parts[2]);
  while (std::ranges::next_permutation(parts).found);
  return all;
}

// Radii with networks, with histograms, and the largest; operations in one step and in two.
std::vector<Row> ranks() {
  return {
      {"Median",
       {"--median 1 @", "--median 2 @", "--median 3 @"},
       {.share = 2, .pictures = window_pictures}},
      // The time of a pixel grows with its window.
      {"MedianOfManyPixels", {"--median 8 @"}, {.sizes = {{37, 7}}, .pictures = window_pictures}},
      {"LargestMedian",
       {"--median 31"},
       {.formats = {{3, 8}, {1, 16}},
        .sizes = {{37, 5}},
        .pictures = random_picture,
        .bands = {1000},
        .as_both = true}},
      // For each format, one operation of one step and one of two.
      {"Morphology",
       {"--dilate 1 @", "--dilate 9 @", "--erode 2 @", "--erode 4 @", "--open 9 @", "--open 3 @",
        "--close 1 @", "--close 20 @"},
       {.share = 4, .pictures = window_pictures}}};
}

// Operators; sigmas with small and large radii, of each kernel.
std::vector<Row> windows() {
  return {
      {"Edges",
       {"--edges sobel @", "--edges scharr @", "--edges laplacian @"},
       {.share = 2, .pictures = dull}},
      {"Denoise",
       {"--denoise 10 --sigma-color 20 --radius 4 @", "--denoise 10 --sigma-color 2 --radius 1 @",
        "--denoise 10 --sigma-color 200 --radius 8 @",
        "--denoise 10 --sigma-color 7.5 --radius 3 @",
        "--denoise 10 --sigma-color 60 --radius 2 @"},
       {.share = 2, .sizes = {{37, 19}}, .pictures = duller}},
      {"DenoiseChroma",
       {"--denoise 12 --chroma 10 --radius 4 @", "--denoise 12 --chroma 0.01 --radius 1 @",
        "--denoise 12 --chroma 100 --radius 8 @", "--denoise 12 --chroma 3 --radius 3 @",
        "--denoise 12 --chroma 30 --radius 2 @"},
       {.formats = {{3, 8}, {4, 8}, {3, 16}, {4, 16}},
        .share = 4,
        .sizes = {{37, 19}},
        .pictures = duller}},
      {"Gaussian",
       {"--gaussian 0.7 @", "--gaussian 2.3 @", "--gaussian 6 @", "--gaussian 3.9 @"},
       {.share = 2, .sizes = {{67, 37}}, .bands = {15}}},
      {"Sharpen",
       {"--sharpen 0.8", "--sharpen 10 --sigma 0.4 --border wrap",
        "--sharpen 1.5 --sigma 2.1 --threshold 20 --border constant",
        "--sharpen 2.25 --sigma 1.3 --threshold 7.5 --luma-only yes --border mirror",
        "--sharpen 0.6 --sigma 0.9 --luma-only yes --alpha independent"},
       {.share = 4, .sizes = {{67, 37}}, .pictures = pictures_with_a_speck, .bands = {15}}}};
}

std::vector<Row> places() {
  return {
      {"Crop",
       each_in("--crop $", crop_rectangles),
       {.sizes = {{67, 37}}, .pictures = random_picture, .bands = {1, 3, 16, 1000}}},
      {"CropAmongBlurs",
       crops_among_blurs(),
       {.formats = {{4, 8}},
        .sizes = {{67, 37}},
        .pictures = mixed_picture,
        .bands = {1, 3, 16, 1000}}},
      {"Pad",
       {"--pad 3,1,20,5 --pad-color red", "--pad 3,1,20,5 --pad-color transparent"},
       {.formats = {{1, 8}, {3, 8}, {4, 16}},
        .sizes = {{31, 17}},
        .pictures = random_picture,
        .bands = {3, 1000}}},
      {"Flop",
       {"--flop", "--flop --flop"},
       {.formats = {{1, 8}, {3, 8}, {4, 16}, {2, 16}},
        .sizes = {{67, 37}, {19, 7}},
        .pictures = random_picture,
        .bands = {1, 16, 1000}}},
      {"Resize",
       {"--resize 20x11 --fit fill", "--resize 100x50 --fit fill"},
       {.share = 2, .sizes = {{67, 37}}, .pictures = mixed_picture, .bands = {9}}},
      {"ResizeAmongBlurs",
       {"--blur auto --border wrap --resize 37% --blur auto --resize 200x --kernel cubic"},
       {.formats = {{4, 8}}, .sizes = {{80, 60}}, .pictures = mixed_picture, .bands = {1, 7, 40}}}};
}

std::vector<Row> points() {
  const Formats of_8{{1, 8}, {2, 8}, {3, 8}, {4, 8}};
  const Formats of_16{{1, 16}, {2, 16}, {3, 16}, {4, 16}};
  return {
      {"DepthUp",
       {"--depth 16", "--invert --depth 16 --blur auto"},
       {.formats = of_8, .sizes = {{67, 37}}, .pictures = random_picture, .bands = {9}}},
      {"DepthDown",
       {"--depth 8", "--invert --depth 8 --blur auto"},
       {.formats = of_16, .sizes = {{67, 37}}, .pictures = random_picture, .bands = {9}}},
      {"Levels",
       {"--levels 10%,86%"},
       {.formats = {{1, 8}, {2, 8}, {3, 8}, {4, 8}, {3, 16}, {4, 16}},
        .sizes = {{257, 129}},
        .pictures = random_picture,
        .bands = {1, 50, 1000},
        .as_both = true}},
      // Among windows and other stages over single pixels.
      {"TablesOfEachColor",
       {"--white-balance 1.3,1,0.6 --blur auto --tint navy",
        "--curve 'r:0,0 0.4,0.6 1,1' --channel g --blur auto", "--swap gbr --blur auto --gamma 2",
        "--blur auto --channel luma --vignette 0.7 --invert"},
       {.formats = {{3, 8}, {4, 8}, {3, 16}, {4, 16}},
        .share = 2,
        .sizes = {{67, 37}},
        .pictures = random_picture,
        .bands = {5, 1000}}},
      {"Warps",
       {"--rotate 12", "--rotate -77 --interpolation linear --pad-color transparent",
        "--affine 0.4,0.1,3,0,0.3,2 --pad-color transparent",
        "--invert --rotate 184 --rotate-fit keep --outside mirror --blur auto",
        "--affine 1.2,0,0,0.3,0.8,1 --interpolation nearest --outside wrap",
        "--perspective \"2,3 0,0 60,1 67,0 58,35 67,37 1,30 0,37\" --outside replicate"},
       {.sizes = {{67, 37}, {1, 9}}, .pictures = mixed_picture, .bands = {5, 1000}}},
      // Samples, every operation, and results of another number of channels.
      {"Pixel",
       {"--pixel \"r = 1.1*r - 0.05*g; b = curve(b, 0 0.1 0.5 0.6 1 1)\"",
        "--invert --pixel \"gray = table(min(r, gray, a), 0 0.2 0.7 1)\" --blur auto @",
        "--blur auto @ --pixel \"y = luma(r, g, b); rgb = fma(1.3, rgb - y, y); a = clamp(1 - "
        "a, 0.2, 0.7)\" --pixel \"rgb = table(rgb, 0 .1 .9 1)\"",
        "--pixel \"rgb = select(gray <= 0.5, max(rgb, 0.1), select(rgb == 1, 0, a - rgb))\" "
        "--levels 10%,86% --pixel \"r = select(r < b, g / 3, r); a = gray\""},
       {.share = 2, .sizes = {{67, 19}, {5, 3}}, .pictures = mixed_picture}},
      // Matrices that become one.
      {"ColorTwice",
       {"--color sepia --color swap-rb",
        "--color swap-rb --color \"1.3 0 0 .1; 0 .9 0 -.05; 0 0 .7 .01\"",
        "--color \"1 0 0; 0 1 0; 0 0 1\" --color \".4 0 .7; 0 1 0; .1 0 .3\"",
        "--color sepia --color \"0 0 0 1; 0 1 0 0; 0 0 1 0; 1 0 0 0\" --blur auto "
        "--color \"0 0 0 1; 0 1 0 0; 0 0 1 0; 1 0 0 0\""},
       {.formats = {{4, 16}}, .sizes = {{77, 13}}, .pictures = random_picture, .bands = {5}}},
      {"ColorsAndBlur",
       colors_and_blur(),
       {.formats = {{1, 8}, {3, 8}, {4, 16}},
        .share = 2,
        .sizes = {{61, 43}},
        .pictures = random_picture,
        .bands = {1, 5, 16},
        .as_both = true}}};
}

std::vector<Row> blurs() {
  return {
      {"Variants",
       each_in("--blur naive --border $ --blur auto --border $ --blur tiled --tile 8 --border $ "
               "--blur tiled --border $ --alpha independent",
               borders),
       {.formats = {{4, 8}},
        .sizes = {{1, 1}, {3, 2}, {31, 33}, {257, 37}},
        .pictures = mixed_picture,
        .bands = {1, 2, 5, 16, 1000},
        .as_both = true}},
      // Each has its own border, also where a wrapping one after it needs rows past the edge.
      {"Borders",
       each_in("--blur auto --border $ --blur auto --border wrap --blur auto --border $ "
               "--blur auto --border wrap",
               borders),
       {.formats = {{3, 8}},
        .sizes = {{19, 1}, {19, 2}, {19, 23}},
        .pictures = random_picture,
        .bands = {1, 5, 1000}}},
      {"AmongGaussians",
       {"--blur auto --gaussian 3 --border wrap --blur auto --border wrap --gaussian 0.8"},
       {.formats = {{4, 8}}, .sizes = {{80, 60}}, .pictures = mixed_picture, .bands = {1, 9, 30}}}};
}

// Windows among stages over single pixels, which share their kernels.
std::vector<Row> shared() {
  return {
      {"Shared",
       {"--invert --edges sobel @ --gamma 1.5",
        "--gray --convolve \"1 2 1; 0 1 0; 3 1 2\" @ --invert", "--gamma 0.7 --median 1 @ --invert",
        "--invert --median 2 @ --gamma 2", "--invert --dilate 2 @ --gamma 1.5 --erode 1 @ --invert",
        "--gamma 1.2 --median 4 @ --invert", "--invert --blur auto @ --gamma 0.5",
        "--invert --close 6 @ --color sepia"},
       {.share = 4,
        .sizes = {{67, 19}, {5, 3}},
        .pictures = test::mixed_picture,
        .bands = {5, 1000},
        .as_both = true}}};
}

class Devices : public ::testing::TestWithParam<Row> {};

TEST_P(Devices, GiveTheProcessorsBits) {
  std::vector<ChainInTurn> chains;
  for (const std::string& words : GetParam().chains) {
    chains.emplace_back([&words](Border border, AlphaMode alpha) {
      const std::string turned = "--border " + borders.at(static_cast<std::size_t>(border)) +
                                 " --alpha " +
                                 (alpha == AlphaMode::weighted ? "weighted" : "independent");
      return stages_of(with(words, '@', turned));
    });
  }
  expect_the_processors_bits(chains, GetParam().cases);
}

std::string name_of(const ::testing::TestParamInfo<Row>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Ranks, Devices, ::testing::ValuesIn(ranks()), name_of);
INSTANTIATE_TEST_SUITE_P(Windows, Devices, ::testing::ValuesIn(windows()), name_of);
INSTANTIATE_TEST_SUITE_P(Shared, Devices, ::testing::ValuesIn(shared()), name_of);
INSTANTIATE_TEST_SUITE_P(Places, Devices, ::testing::ValuesIn(places()), name_of);
INSTANTIATE_TEST_SUITE_P(Points, Devices, ::testing::ValuesIn(points()), name_of);
INSTANTIATE_TEST_SUITE_P(Blurs, Devices, ::testing::ValuesIn(blurs()), name_of);

// Stage::key(): different results, different keys.

// As the command line makes it.
std::string key_of(const std::string& option, const std::string& value,
                   const GivenParameters& parameters = {}) {
  for (const StageKind& kind : stage_catalogue()) {
    if (kind.option == option) return kind.make(value, parameters)->key();
  }
  return "no such stage";
}

std::string network_key(float weight, float bias, Activation activation) {
  Network network;
  network.layers.push_back({3, {1, 0, 0, 0, weight, 0, 0, 0, 1}, {0, bias, 0}, activation});
  return make_mlp(std::move(network))->key();
}

TEST(StageKey, DiffersWhereResultsDo) {
  const std::vector<std::string> keys{key_of("--blur", "auto"),
                                      key_of("--blur", "auto", {{"--border", "wrap"}}),
                                      key_of("--blur", "auto", {{"--alpha", "independent"}}),
                                      key_of("--color", "1 0 0; 0 1 0; 0 0 1"),
                                      key_of("--color", "1 0 0; 0 1 0; 0 0 0.1"),
                                      key_of("--color", "1 0 0; 0 1 0; 0 0 0.10000001"),
                                      key_of("--color", "1 0 0 0; 0 1 0 0; 0 0 1 0.5"),
                                      key_of("--levels", "auto"),
                                      key_of("--levels", "auto=1"),
                                      key_of("--levels", "1,10"),
                                      key_of("--levels", "1%,10%"),
                                      key_of("--levels", "1,100"),
                                      key_of("--tonemap", "reinhard"),
                                      key_of("--tonemap", "filmic"),
                                      key_of("--tonemap", "reinhard=0.2"),
                                      network_key(1, 0, Activation::none),
                                      network_key(0.1F, 0, Activation::none),
                                      network_key(1, 0.1F, Activation::none),
                                      network_key(1, 0, Activation::relu)};
  const std::set<std::string> different(keys.begin(), keys.end());
  EXPECT_EQ(different.size(), keys.size()) << ::testing::PrintToString(keys);
}

TEST(StageKey, IsTheSameForTheSameResult) {
  EXPECT_EQ(key_of("--blur", "naive"), key_of("--blur", "tiled", {{"--tile", "8"}}));
  EXPECT_EQ(key_of("--blur", "auto"), key_of("--blur", "auto", {{"--border", "replicate"}}));
  EXPECT_EQ(key_of("--color", "1 0 0; 0 1 0; 0 0 .5"), key_of("--color", "1 0 0; 0 1 0; 0 0 0.50"));
  EXPECT_EQ(key_of("--levels", "auto"), key_of("--levels", "auto=0"));
  EXPECT_EQ(key_of("--tonemap", "reinhard"), key_of("--tonemap", "reinhard=0.18"));
}

}  // namespace
}  // namespace gpufilter::test
