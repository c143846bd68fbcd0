// The colour matrix gives the same bits everywhere: the processor with each instruction
// set against a second computation, then every device, format, shape, size and band height
// against the processor.
#include "stages/colour/color.hpp"

#include <clocale>

#include "stages/window/blur.hpp"
#include "support/instruction_sets.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

StageChain chain_of(const MatrixRows& rows) {
  return {make_color(to_matrix(rows), "test")};
}

// Weights about -2..2 with many digits, bias -1..1; some of them 0, so that rows differ in length.
MatrixRows random_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  MatrixRows matrix(rows, std::vector<double>(columns));
  for (auto& row : matrix) {
    for (std::size_t k = 0; k < columns; ++k) {
      const double share = static_cast<double>(generator() >> 11U) * 0x1p-53;
      row[k] = generator() % 5 == 0 ? 0 : (2 * share - 1) * (k == rows ? 1 : 2);
    }
  }
  return matrix;
}

std::vector<MatrixRows> random_matrices(std::uint64_t seed) {
  return {random_matrix(3, 3, seed), random_matrix(3, 4, seed + 1), random_matrix(4, 4, seed + 2),
          random_matrix(4, 5, seed + 3)};
}

// Sums that are often k + 0.5 except for the rounding of single precision, so that a chain with
// other fusing or order gives another result. Then sums that overflow, cancel, stay subnormal, or
// are a zero with either sign.
const std::vector<MatrixRows>& delicate_matrices() {
  static const std::vector<MatrixRows> matrices{
      {{0.1, 0.2, 0.7, 0.1}, {0.3, 0.3, 0.4, 0.3}, {0.7, 0.1, 0.2, -0.1}},
      {{0.1, 0.2, 0.7, 0.3}, {0.3, 0.3, 0.4, -0.1}, {-0.7, 0.1, 0.2, 1.1}, {0.3, 0.1, 0.5, 0.1}},
      {{1e30, 0, 0, -1}, {0, -1e30, 0, 1}, {1e30, -1e30, 1, 0}},
      {{3e38, -3e38, 0}, {-3e38, 3e38, 0}, {3e38, 3e38, -3e38}},
      {{3e38, -3e38, 3e38, -3e38, 1},
       {0, 0, 3e38, -3e38, 0},
       {1, 0, 0, -3e38, 0.5},
       {-3e38, 3e38, 0, 0.5, 0}},
      {{1e-45, 1e-40, -1e-38}, {-0.0, -0.0, -0.0}, {1e-39, -1e-39, 1}},
      {{0.5, 1e-40, 0, 0}, {1e-40, 0.5, -1e-42, 0}, {-1e-40, 0, 0.5, -0.0}},
      {{0.5, 0.5, 0, 0}, {0, 0.25, 0.25, 0.25}, {0, 0, -0.5, 1}}};
  return matrices;
}

// The sums of one pixel's matrix product, by the rules: x the samples as stored, the last column in
// shares of the maximum, alpha the maximum if there is none.
struct Sums {
  std::vector<float> single;      // one chain of fused multiply-adds
  std::vector<long double> wide;  // hardly rounded
};

Sums product(const MatrixRows& rows, const std::vector<std::uint32_t>& x, double max) {
  Sums sums;
  for (const auto& row : rows) {
    const bool biased = row.size() > rows.size();
    float single = biased ? static_cast<float>(row.back() * max) : 0.0F;
    long double wide = single;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto weight = static_cast<float>(row[k]);
      single = std::fma(weight, static_cast<float>(x[k]), single);
      wide += static_cast<long double>(weight) * x[k];
    }
    sums.single.push_back(single);
    sums.wide.push_back(wide);
  }
  return sums;
}

template <typename Number>
std::uint32_t stored(Number sum, std::uint32_t max) {
  if (std::isnan(sum) || sum <= 0) return 0;
  return sum >= static_cast<Number>(max) ? max : static_cast<std::uint32_t>(std::nearbyint(sum));
}

bool passes_alpha(const MatrixRows& rows) {
  return rows.size() == 3 || rows[3] == std::vector<double>{0, 0, 0, 1} ||
         rows[3] == std::vector<double>{0, 0, 0, 1, 0};
}

// Compares `result` with both sums of every pixel of `image`; `near`: with the wide ones to within
// one.
void expect_products(const Image& image, const MatrixRows& rows, const Image& result, bool near) {
  const PixelFormat format = image.format();
  const std::uint32_t max = format.max_sample();
  const bool has_alpha = format.has_alpha() || !passes_alpha(rows);
  ASSERT_EQ(result.format(), (PixelFormat{has_alpha ? 4 : 3, format.depth}));
  for (const auto [x, y] : each_pixel(image.size())) {
    std::vector<std::uint32_t> pixel;
    for (const int c : {0, 1, 2})
      pixel.push_back(sample_at(image, x, y, format.color_channels() == 1 ? 0 : c));
    pixel.push_back(format.has_alpha() ? sample_at(image, x, y, format.channels - 1) : max);
    const Sums sums = product(rows, pixel, max);
    for (std::size_t c = 0; c < (has_alpha ? 4U : 3U); ++c) {
      const std::uint32_t sample = sample_at(result, x, y, static_cast<int>(c));
      if (c == 3 && passes_alpha(rows)) {
        ASSERT_EQ(sample, pixel[3]);
        continue;
      }
      ASSERT_EQ(sample, stored(sums.single[c], max)) << to_string(format) << ", channel " << c;
      if (near) {
        ASSERT_NEAR(sample, stored(sums.wide[c], max), 1);
      }
    }
  }
}

// With each instruction set.
void expect_products_on_host(const Image& image, const MatrixRows& rows, bool near) {
  with_each_instruction_set([&] {
    const Image result = filter_on_host(image, chain_of(rows), {});
    expect_products(image, rows, result, near);
    EXPECT_TRUE(padding_holds(result.rows()));
  });
}

TEST(ColorOnProcessor, EqualsTheDefinition) {
  for (const PixelFormat& format : all_formats()) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      for (const MatrixRows& rows : random_matrices(100 * seed)) {
        const Image image = seed % 2 == 0 ? random_image({37, 11}, format, seed)
                                          : extreme_image({37, 11}, format, seed);
        ASSERT_NO_FATAL_FAILURE(expect_products_on_host(image, rows, true));
      }
    }
    for (const MatrixRows& rows : delicate_matrices()) {
      for (const Image& image :
           {random_image({37, 11}, format, 4), extreme_image({37, 11}, format, 5)}) {
        ASSERT_NO_FATAL_FAILURE(expect_products_on_host(image, rows, false));
      }
    }
  }
}

// Widths that end within registers and within blocks of pixels.
TEST(ColorOnProcessor, EqualsTheDefinitionForEveryWidthAndRoundsHalfToEven) {
  for (const auto& [format, width] :
       each_of(all_formats(), std::array{1,  2,  3,  4,  5,  7,  8,  9,   15,  16,  17,  21,  22,
                                         23, 31, 32, 33, 63, 64, 65, 129, 511, 512, 513, 1025})) {
    const Image image = random_image({width, 2}, format, 6);
    for (const MatrixRows& rows : {random_matrix(3, 4, 50), random_matrix(4, 5, 51)})
      ASSERT_NO_FATAL_FAILURE(expect_products_on_host(image, rows, true));
  }
  Image image({256, 1}, {1, 8});
  for (int x = 0; x < 256; ++x)
    set_sample(image, x, 0, 0, static_cast<std::uint32_t>(x));
  const Image halves = filter_on_host(image, chain_of({{0.5, 0, 0}, {0.5, 0, 0}, {0.5, 0, 0}}), {});
  for (int x = 0; x < 256; ++x) {
    const int expected = x % 4 == 3 ? x / 2 + 1 : x / 2;
    ASSERT_EQ(sample_at(halves, x, 0, 1), static_cast<std::uint32_t>(expected)) << x;
  }
}

// A product inside fma does not overflow: a sum that has overflowed stays infinite and never
// becomes a NaN.
TEST(ColorOnProcessor, SaturatesWhatOverflows) {
  Image image({1, 1}, {3, 16});
  for (const int c : {0, 1, 2})
    set_sample(image, 0, 0, c, 65535);
  const Image result =
      filter_on_host(image, chain_of({{3e38, -3e38, 0}, {3e38, 0, 0}, {-3e38, 3e38, 0}}), {});
  EXPECT_EQ(sample_at(result, 0, 0, 0), 65535U);
  EXPECT_EQ(sample_at(result, 0, 0, 1), 65535U);
  EXPECT_EQ(sample_at(result, 0, 0, 2), 0U);
}

TEST(Color, AlphaFollowsTheMatrix) {
  const MatrixRows three{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
  const MatrixRows kept{{0, 0, 1, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}, {0, 0, 0, 1}};
  const MatrixRows made{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0.5}};
  const auto output = [](const MatrixRows& rows, PixelFormat input) {
    return result_of(chain_of(rows).front(), {{9, 9}, input}).format.channels;
  };
  for (const auto& [channels, unmade] :
       {std::pair{1, 3}, std::pair{2, 4}, std::pair{3, 3}, std::pair{4, 4}}) {
    EXPECT_EQ(output(three, {channels, 8}), unmade);
    EXPECT_EQ(output(kept, {channels, 16}), unmade);
    EXPECT_EQ(output(made, {channels, 8}), 4);
  }
}

std::vector<Image> random_and_extreme(ImageSize size, PixelFormat format) {
  std::vector<Image> pictures = random_picture(size, format);
  pictures.push_back(extreme_image(size, format, 8));
  return pictures;
}

void expect_the_processors_bits(const std::vector<MatrixRows>& matrices, DeviceCases cases) {
  // One pixel, fewer and more than a work-item's four, more than a work-group's 256.
  cases.sizes = {{1, 1}, {3, 2}, {4, 1}, {5, 7}, {21, 5}, {33, 9}, {2051, 3}};
  cases.pictures = random_and_extreme;
  cases.bands = {1, 4, 1000};
  std::vector<ChainInTurn> chains;
  for (const MatrixRows& rows : matrices)
    chains.emplace_back([&](Border, AlphaMode) { return chain_of(rows); });
  expect_the_processors_bits(chains, cases);
}

TEST(ColorOnDevices, EqualsTheProcessorAndEqualsTheProcessorWhereOnlyOneSideOfAlphaIsUsed) {
  std::vector<MatrixRows> matrices = random_matrices(9);
  matrices.insert(matrices.end(), delicate_matrices().begin(), delicate_matrices().end());
  expect_the_processors_bits(matrices, {.share = 2});
  // Only alpha is computed, or only the colours read it.
  const MatrixRows made{
      {0.3, 0.5, 0.1, 0}, {0.7, 0, -0.2, 0}, {0, 1.1, 0, 0}, {0.21, 0.71, 0.07, 0.01}};
  const MatrixRows read{{0.3, 0.5, 0.1, -0.2}, {0.7, 0, 0, 0.3}, {0, 1.1, 0, 0}, {0, 0, 0, 1}};
  expect_the_processors_bits({made, read}, {.formats = {{3, 8}, {4, 8}}, .as_both = true});
}

// Neighbouring colour matrices become one pass exactly if that changes no bit.

const MatrixRows identity{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
const MatrixRows swap_rb{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
const MatrixRows red_only{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
const MatrixRows alpha_to_red{{0, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 0, 0}};
const MatrixRows sepia{{.393, .769, .189}, {.349, .686, .168}, {.272, .534, .131}};
const MatrixRows gains{{1.3, 0, 0, .1}, {0, .9, 0, -.05}, {0, 0, .7, .01}};
const MatrixRows bias_only{{1, 0, 0, .1}, {0, 1, 0, 0}, {0, 0, 1, 0}};
const MatrixRows half{{.5, 0, 0}, {0, .5, 0}, {0, 0, .5}};
const MatrixRows red_and_blue{{.4, 0, .7}, {0, 1, 0}, {.1, 0, .3}};

std::shared_ptr<const Stage> color(const MatrixRows& rows, const std::string& label = "m") {
  return make_color(to_matrix(rows), label);
}

std::size_t passes(const StageChain& chain, PixelFormat format = {3, 8}) {
  return make_plan({{8, 8}, format}, chain).passes.size();
}

TEST(ColorMerging, TakesPickedChannelsIntoTheirNeighbour) {
  EXPECT_EQ(passes({color(sepia), color(swap_rb)}), 1U);
  EXPECT_EQ(passes({color(sepia), color(red_only)}), 1U);
  EXPECT_EQ(passes({color(swap_rb), color(gains)}), 1U);
  EXPECT_EQ(passes({color(red_only), color(gains)}), 1U);
  EXPECT_EQ(passes({color(identity), color(sepia)}), 1U);
  EXPECT_EQ(passes({color(swap_rb), color(swap_rb), color(sepia), color(swap_rb)}), 1U);
  EXPECT_EQ(passes({color(sepia), color(alpha_to_red)}, {4, 8}), 1U);
}

TEST(ColorMerging, LeavesAloneWhatWouldRoundOrAddDifferentlyAndDoesNotChangeTheFormat) {
  EXPECT_EQ(passes({color(sepia), color(gains)}), 2U);     // rounds and saturates in between
  EXPECT_EQ(passes({color(half), color(half)}), 2U);       // rounds in between
  EXPECT_EQ(passes({color(swap_rb), color(sepia)}), 2U);   // a different order of additions
  EXPECT_EQ(passes({color(red_only), color(sepia)}), 2U);  // three weights of one channel
  EXPECT_EQ(passes({color(sepia), color(bias_only)}), 2U);
  EXPECT_EQ(passes({color(sepia), make_blur({}), color(swap_rb)}), 3U);
  // On RGB the second creates an alpha that the merged matrix would not.
  const MatrixRows from_alpha{{0, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  const StageChain chain{color(from_alpha), color(alpha_to_red)};
  EXPECT_EQ(passes(chain, {3, 8}), 2U);
  EXPECT_EQ(passes(chain, {4, 8}), 1U);
}

TEST(ColorMerging, LeavesOutWhatChangesNothing) {
  EXPECT_EQ(passes({color(identity), make_blur({})}), 1U);
  EXPECT_EQ(passes({make_blur({}), color(swap_rb), color(swap_rb), make_blur({})}), 2U);
  EXPECT_EQ(passes({make_blur({}), color(identity)}, {1, 8}), 2U);  // makes RGB of grey
  // One pass stays: it copies.
  for (const StageChain& chain :
       {StageChain{color(identity)}, StageChain{color(swap_rb), color(swap_rb)},
        StageChain{color(identity), color(identity)}}) {
    EXPECT_EQ(passes(chain), 1U);
    const Image image = random_image({9, 5}, {3, 8}, 1);
    EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {}), image));
  }
}

TEST(ColorMerging, NamesBothInTheTiming) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const Plan plan = make_plan({{8, 8}, {3, 8}}, {color(sepia, "sepia"), color(swap_rb, "swap-rb")});
  Session& session = *all_sessions().front();
  const auto pass = plan.passes.front().step->prepare(session, plan.input);
  EXPECT_EQ(pass->description().variant, "sepia+swap-rb");
}

// ---- Over random matrices and pictures ----

MatrixRows random_picks(std::mt19937_64& generator) {
  MatrixRows rows(4, std::vector<double>(4, 0));
  for (auto& row : rows)
    row[generator() % 4] = 1;
  return rows;
}

// Many weights are 0, so that often only one per row is left.
MatrixRows random_sparse(std::mt19937_64& generator) {
  const bool biased = generator() % 2 == 0;
  MatrixRows rows(4, std::vector<double>(biased ? 5 : 4, 0));
  for (auto& row : rows) {
    for (double& number : row) {
      if (generator() % 3 == 0) number = static_cast<double>(generator() % 4001) / 1000 - 2;
    }
  }
  return rows;
}

TEST(ColorMerging, ChangesNoBit) {
  std::mt19937_64 generator(31);
  int merged_pairs = 0;
  for (int round = 0; round < 1500; ++round) {
    const int channels = 1 + static_cast<int>(generator() % 4);
    const int depth = generator() % 2 == 0 ? 8 : 16;
    const Image image = random_image({16, 4}, {channels, depth}, generator());
    const auto pick = color(random_picks(generator));
    const auto other =
        color(generator() % 4 == 0 ? random_picks(generator) : random_sparse(generator));
    const StageChain chain = round % 2 == 0 ? StageChain{pick, other} : StageChain{other, pick};
    const Plan plan = make_plan({image.size(), image.format()}, chain);
    merged_pairs += plan.passes.size() == 1 ? 1 : 0;
    ASSERT_TRUE(same_pixels(filter_on_host(image, chain, {}), stage_by_stage(image, chain)))
        << "round " << round;
  }
  EXPECT_GT(merged_pairs, 500);
}

// Matrices as people write them, and the messages for those that make no sense.

const ColorMatrix counting = to_matrix({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});

std::string text_objection(const std::string& text, const std::string& file) {
  return objection_to([&] { return parse_color_matrix(text, file); });
}

TEST(ColorText, TakesRowsInEveryLayout) {
  for (const std::string text :
       {"1 2 3; 4 5 6; 7 8 9", "1 2 3;4 5 6;7 8 9;", "1,2,3;4,5,6;7,8,9",
        "1, 2, 3\n4, 5, 6\n7, 8, 9", "\t1\t2 3\r\n4 5 6\r\n\r\n7 8 9\r\n",
        "\xEF\xBB\xBF 1 2 3\n4 5 6\n7 8 9", "# a comment; 1 2\n1 2 3 # red\n\n4 5 6;\n;7 8 9#",
        "+1 2e0 0.3e1; 4. 5 6; 7 8 9.000"}) {
    EXPECT_EQ(parse_color_matrix(text, ""), counting) << text;
  }
}

TEST(ColorText, TakesTheFourShapes) {
  const ColorMatrix three = parse_color_matrix("0 0 1; 0 1 0; 1 0 0", "");
  EXPECT_TRUE(three.keeps_alpha());
  EXPECT_EQ(three.bias, (std::array<double, 4>{}));
  const ColorMatrix biased = parse_color_matrix("0 0 1 .5; 0 1 0 -.25; 1 0 0 1e-3", "");
  EXPECT_EQ(biased.weights, three.weights);
  EXPECT_EQ(biased.bias, (std::array<double, 4>{.5, -.25, 1e-3, 0}));
  const ColorMatrix four = parse_color_matrix("1 2 3 4; 5 6 7 8; 9 10 11 12; 13 14 15 16", "");
  EXPECT_EQ(four.weights[3], (std::array<float, 4>{13, 14, 15, 16}));
  EXPECT_EQ(four.bias, (std::array<double, 4>{}));
  const ColorMatrix full =
      parse_color_matrix("1 2 3 4 .1; 5 6 7 8 .2; 9 10 11 12 .3; 13 14 15 16 .4", "");
  EXPECT_EQ(full.weights, four.weights);
  EXPECT_EQ(full.bias, (std::array<double, 4>{.1, .2, .3, .4}));
}

TEST(ColorText, WeightsAreRoundedOnceFromTheDecimal) {
  // Between two floats, and just above the middle in the decimal's 20th digit only.
  const ColorMatrix matrix =
      parse_color_matrix("0.1 16777217 16777217.000001; 1e-50 -0 3.4028234e38; 0 0 1", "");
  EXPECT_EQ(matrix.weights[0], (std::array<float, 4>{0.1F, 16777216.F, 16777218.F, 0}));
  EXPECT_EQ(matrix.weights[1], (std::array<float, 4>{0, 0, 3.4028234e38F, 0}));
}

TEST(ColorText, TheLocaleDoesNotMatter) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  const char* with_comma = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"}) {
    if (with_comma == nullptr) with_comma = std::setlocale(LC_ALL, name);
  }
  if (with_comma == nullptr) GTEST_SKIP() << "skipped: no locale with a decimal comma here";
  const ColorMatrix matrix = parse_color_matrix("0.5 0 0; 0 0.5 0; 0 0 0.5", "");
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(matrix.weights[0][0], 0.5F);
}

struct Refusal {
  std::string text;
  std::string complaint;
};

TEST(ColorText, SaysWhatIsWrongWhere) {
  const std::string shapes = "a matrix is 3x3, 3x4, 4x4 or 4x5";
  const std::vector<Refusal> refusals{
      {"", "m.txt:1: no number in it; " + shapes},
      {"\n# only words\n", "m.txt:3: no number in it; " + shapes},
      {"1 0 0\n0 x 0\n0 0 1", "m.txt:2: 'x' is not a number"},
      {"1 0 0\n0 1.5.2 0\n0 0 1", "m.txt:2: '1.5.2' is not a number"},
      {"1 0 0\n0 +-1 0\n0 0 1", "m.txt:2: '+-1' is not a number"},
      {"1 0 0\n\n0 0x10 0\n0 0 1", "m.txt:3: '0x10' is not a number"},
      {"1 0 0\n0 1 0\n0 0 nan", "m.txt:3: 'nan' is not a number"},
      {"inf 0 0\n0 1 0\n0 0 1", "m.txt:1: 'inf' is not a number"},
      {"1e999 0 0\n0 1 0\n0 0 1", "m.txt:1: '1e999' is too large: single precision ends at 3.4e38"},
      {"1e39 0 0\n0 1 0\n0 0 1", "m.txt:1: '1e39' is too large: single precision ends at 3.4e38"},
      {"1 0 0 0\n0 1 0 -1e34\n0 0 1 0",
       "m.txt:2: '-1e34' is too large to be added: single precision ends at 3.4e38, and it is a "
       "share of the largest sample, up to 65535"},
      {"1,,0\n0 1 0\n0 0 1", "m.txt:1: ',' without a number before it"},
      {"1 0 0\n,0 1 0\n0 0 1", "m.txt:2: ',' without a number before it"},
      {"1 0\n0 1", "m.txt:1: a row of 2 numbers, ending in '0'; " + shapes},
      {"7", "m.txt:1: a row of 1 number, ending in '7'; " + shapes},
      {"1 2 3 4 5 6", "m.txt:1: a row of 6 numbers, ending in '6'; " + shapes},
      {"1 0 0\n0 1 0 0.5\n0 0 1",
       "m.txt:2: a row of 4 numbers, ending in '0.5', but the first row has 3"},
      {"1 0 0\n0 1 0", "m.txt:2: 2 rows of 3 numbers, ending in '0'; " + shapes},
      {"1 0 0 0 0\n0 1 0 0 0\n0 0 1 0 9", "m.txt:3: 3 rows of 5 numbers, ending in '9'; " + shapes},
      {"1 0 0\n0 1 0\n0 0 1\n1 1 2", "m.txt:4: 4 rows of 3 numbers, ending in '2'; " + shapes},
      {"1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n\n5 6 7 8",
       "m.txt:6: a fifth row of 4 numbers, ending in '8'; " + shapes},
      {"\x89PNG\r\n", "m.txt:1: '\\x89PNG' is not a number"},
      {std::string(200, 'z'), "m.txt:1: '" + std::string(32, 'z') + "...' is not a number"}};
  for (const Refusal& refusal : refusals)
    EXPECT_EQ(text_objection(refusal.text, "m.txt"), refusal.complaint) << refusal.text;
}

TEST(ColorText, OnTheCommandLineRowsAreNamed) {
  EXPECT_EQ(text_objection("1 0 0; 0 x 0; 0 0 1", ""), "--color: row 2: 'x' is not a number");
  EXPECT_EQ(text_objection("1 0 0; 0 1 0; 0 0 1 2", ""),
            "--color: row 3: a row of 4 numbers, ending in '2', but the first row has 3");
  EXPECT_EQ(text_objection("1 0 0; 0 1 0", ""),
            "--color: 2 rows of 3 numbers, ending in '0'; a matrix is 3x3, 3x4, 4x4 or 4x5");
  EXPECT_EQ(text_objection("", ""), "--color: no number in it; a matrix is 3x3, 3x4, 4x4 or 4x5");
}

TEST(ColorText, KnowsAMatrixFromAName) {
  for (const std::string text : {"1 0 0; 0 1 0; 0 0 1", "0.5", "-1,0,0", "+.5 1", "1;2", "x 1; 2",
                                 "a\n1", "inf 0 0; 1", "1 x", " \t2 3", "1e999 0"}) {
    EXPECT_TRUE(is_matrix_text(text)) << text;
  }
  for (const std::string text :
       {"", "sepia", "warm.txt", "2warm.txt", "warm 2.txt", "./1 0 0; 0 1 0", "/1;2", "../0.5",
        "a;b", "info.txt", "nano", "1.5.txt", "my matrices/warm.txt", "-x"}) {
    EXPECT_FALSE(is_matrix_text(text)) << text;
  }
}

std::string file_complaint(const std::string& path) {
  return objection_to([&] { return read_color_matrix(path); });
}

TEST(ColorText, ReadsFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "swap.txt";
  write_file(path, "# swaps\r\n1 2 3\r\n4 5 6\r\n7 8 9");
  EXPECT_EQ(read_color_matrix(path), counting);
}

TEST(ColorText, ReadsTheSamples) {
  const std::string folder = GPUFILTER_SOURCE "/samples/matrices/";
  EXPECT_EQ(read_color_matrix(folder + "warm.txt"),
            parse_color_matrix("1.08 .04 0 .015; .02 .99 0 .005; 0 .06 .8 -.01", ""));
  EXPECT_EQ(read_color_matrix(folder + "infrared.txt"),
            parse_color_matrix("-.3 1.8 -.5; -.3 1.8 -.5; -.3 1.8 -.5", ""));
  EXPECT_EQ(read_color_matrix(folder + "ink.txt"),
            parse_color_matrix("0 0 0 0; 0 0 0 0; 0 0 0 0; -.2126 -.7152 -.0722 1", ""));
  std::ptrdiff_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_NO_THROW(static_cast<void>(read_color_matrix(entry.path()))) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 3);
}

TEST(ColorText, RefusesWhatIsNoMatrixFile) {
  const TemporaryFolder folder;
  const std::string missing = folder.path() / "missing.txt";
  EXPECT_EQ(file_complaint(missing), missing + ": no such file");
  const std::string here = folder.path();
  EXPECT_EQ(file_complaint(here), here + ": is a folder");
  const std::string no_text = ": is not a text file with a matrix of up to 4x5 numbers";
  EXPECT_EQ(file_complaint("/dev/zero"), "/dev/zero: is not a regular file");
  const std::string large = folder.path() / "large.txt";
  write_file(large, "1 0 0; 0 1 0; 0 0 1\n" + std::string(70'000, '#'));
  EXPECT_EQ(file_complaint(large), large + ": is larger than 64 KiB");
  const std::string binary = folder.path() / "binary";
  write_file(binary, std::string("1 0 0\0 0 1 0; 0 0 1", 19));
  EXPECT_EQ(file_complaint(binary), binary + no_text);
  const std::string wrong = folder.path() / "wrong.txt";
  write_file(wrong, "\n\n1 0 O\n");
  EXPECT_EQ(file_complaint(wrong), wrong + ":3: 'O' is not a number");
}

}  // namespace
}  // namespace gpufilter::test
