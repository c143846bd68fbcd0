// The colour matrix gives the same bits everywhere: the processor with each instruction
// set against a second computation, then every device, format, shape, size and band height
// against the processor.
#include "stages/colour/color.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "support/filtering.hpp"
#include "support/instruction_sets.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

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
      {{0.5, 0.5, 0, 0}, {0, 0.25, 0.25, 0.25}, {0, 0, -0.5, 1}},
  };
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
  for (const auto [x, y] : test::each_pixel(image.size())) {
    std::vector<std::uint32_t> pixel;
    for (const int c : {0, 1, 2})
      pixel.push_back(test::sample_at(image, x, y, format.color_channels() == 1 ? 0 : c));
    pixel.push_back(format.has_alpha() ? test::sample_at(image, x, y, format.channels - 1) : max);
    const Sums sums = product(rows, pixel, max);
    for (std::size_t c = 0; c < (has_alpha ? 4U : 3U); ++c) {
      const std::uint32_t sample = test::sample_at(result, x, y, static_cast<int>(c));
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
  test::with_each_instruction_set([&] {
    const Image result = test::filter_on_host(image, chain_of(rows), {});
    expect_products(image, rows, result, near);
    EXPECT_TRUE(test::padding_holds(result.rows()));
  });
}

TEST(ColorOnProcessor, EqualsTheDefinition) {
  for (const PixelFormat& format : test::all_formats()) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      for (const MatrixRows& rows : random_matrices(100 * seed)) {
        const Image image = seed % 2 == 0 ? test::random_image({37, 11}, format, seed)
                                          : test::extreme_image({37, 11}, format, seed);
        expect_products_on_host(image, rows, true);
        if (HasFatalFailure()) return;
      }
    }
    for (const MatrixRows& rows : delicate_matrices()) {
      for (const Image& image :
           {test::random_image({37, 11}, format, 4), test::extreme_image({37, 11}, format, 5)}) {
        expect_products_on_host(image, rows, false);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Widths that end within registers and within blocks of pixels.
TEST(ColorOnProcessor, EqualsTheDefinitionForEveryWidth) {
  for (const PixelFormat& format : test::all_formats()) {
    for (const int width : {1,  2,  3,  4,  5,  7,  8,  9,   15,  16,  17,  21,  22,
                            23, 31, 32, 33, 63, 64, 65, 129, 511, 512, 513, 1025}) {
      const Image image = test::random_image({width, 2}, format, 6);
      for (const MatrixRows& rows : {random_matrix(3, 4, 50), random_matrix(4, 5, 51)}) {
        expect_products_on_host(image, rows, true);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ColorOnProcessor, RoundsHalfToEven) {
  Image image({256, 1}, {1, 8});
  for (int x = 0; x < 256; ++x)
    test::set_sample(image, x, 0, 0, static_cast<std::uint32_t>(x));
  const Image halves =
      test::filter_on_host(image, chain_of({{0.5, 0, 0}, {0.5, 0, 0}, {0.5, 0, 0}}), {});
  for (int x = 0; x < 256; ++x) {
    const int expected = x % 4 == 3 ? x / 2 + 1 : x / 2;
    ASSERT_EQ(test::sample_at(halves, x, 0, 1), static_cast<std::uint32_t>(expected)) << x;
  }
}

// A product inside fma does not overflow: a sum that has overflowed stays infinite and never
// becomes a NaN.
TEST(ColorOnProcessor, SaturatesWhatOverflows) {
  Image image({1, 1}, {3, 16});
  for (const int c : {0, 1, 2})
    test::set_sample(image, 0, 0, c, 65535);
  const Image result =
      test::filter_on_host(image, chain_of({{3e38, -3e38, 0}, {3e38, 0, 0}, {-3e38, 3e38, 0}}), {});
  EXPECT_EQ(test::sample_at(result, 0, 0, 0), 65535U);
  EXPECT_EQ(test::sample_at(result, 0, 0, 1), 65535U);
  EXPECT_EQ(test::sample_at(result, 0, 0, 2), 0U);
}

TEST(Color, AlphaFollowsTheMatrix) {
  const MatrixRows three{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
  const MatrixRows kept{{0, 0, 1, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}, {0, 0, 0, 1}};
  const MatrixRows made{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0.5}};
  const auto output = [](const MatrixRows& rows, PixelFormat input) {
    return test::result_of(chain_of(rows).front(), {{9, 9}, input}).format.channels;
  };
  for (const auto& [channels, unmade] :
       {std::pair{1, 3}, std::pair{2, 4}, std::pair{3, 3}, std::pair{4, 4}}) {
    EXPECT_EQ(output(three, {channels, 8}), unmade);
    EXPECT_EQ(output(kept, {channels, 16}), unmade);
    EXPECT_EQ(output(made, {channels, 8}), 4);
  }
}

std::vector<Image> random_and_extreme(ImageSize size, PixelFormat format) {
  std::vector<Image> pictures = test::random_picture(size, format);
  pictures.push_back(test::extreme_image(size, format, 8));
  return pictures;
}

void expect_the_processors_bits(const std::vector<MatrixRows>& matrices, test::DeviceCases cases) {
  // One pixel, fewer and more than a work-item's four, more than a work-group's 256.
  cases.sizes = {{1, 1}, {3, 2}, {4, 1}, {5, 7}, {21, 5}, {33, 9}, {2051, 3}};
  cases.pictures = random_and_extreme;
  cases.bands = {1, 4, 1000};
  std::vector<test::ChainInTurn> chains;
  for (const MatrixRows& rows : matrices)
    chains.emplace_back([&](Border, AlphaMode) { return chain_of(rows); });
  test::expect_the_processors_bits(chains, cases);
}

TEST(ColorOnDevices, EqualsTheProcessor) {
  std::vector<MatrixRows> matrices = random_matrices(9);
  matrices.insert(matrices.end(), delicate_matrices().begin(), delicate_matrices().end());
  expect_the_processors_bits(matrices, {.share = 2});
}

// Only alpha is computed, or only the colours read it.
TEST(ColorOnDevices, EqualsTheProcessorWhereOnlyOneSideOfAlphaIsUsed) {
  const MatrixRows made{
      {0.3, 0.5, 0.1, 0}, {0.7, 0, -0.2, 0}, {0, 1.1, 0, 0}, {0.21, 0.71, 0.07, 0.01}};
  const MatrixRows read{{0.3, 0.5, 0.1, -0.2}, {0.7, 0, 0, 0.3}, {0, 1.1, 0, 0}, {0, 0, 0, 1}};
  expect_the_processors_bits({made, read}, {.formats = {{3, 8}, {4, 8}}, .as_both = true});
}

}  // namespace
}  // namespace gpufilter
