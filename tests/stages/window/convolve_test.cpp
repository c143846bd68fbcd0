// --convolve gives the same bits everywhere: the processor with each instruction set against a
// second implementation, every device against the processor.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "stages/window/blur.hpp"
#include "stages/window/window_stages.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

__extension__ using Wide = __int128;

// The window around one pixel: from the definition, without tiles, tables or shortcuts.
class NaivePixel {
 public:
  NaivePixel(const Image& image, const ConvolveParameters& parameters, int x, int y)
      : matrix_(parameters.matrix), format_(image.format()) {
    for (int i = 0; i < matrix_.width * matrix_.height; ++i) {
      const int column = x + i % matrix_.width - matrix_.width / 2;
      const int row = y + i / matrix_.width - matrix_.height / 2;
      std::array<std::int64_t, 4> pixel{};
      for (int c = 0; c < format_.channels; ++c)
        pixel.at(static_cast<std::size_t>(c)) =
            test::sample_beyond(image, column, row, c, parameters.border);
      pixels_.push_back(pixel);
      weights_.push_back(matrix_.coefficients.at(static_cast<std::size_t>(i)));
    }
  }

  // Whole numbers. Every sum here fits 128 bits by far.
  [[nodiscard]] std::int64_t exact(int channel, bool weighted) const {
    const auto scale = static_cast<std::int64_t>(matrix_.scale);
    const std::int64_t offset = whole_offset();
    if (!weighted) return limited(nearest(sum(channel, false), scale) + offset);
    const Wide alpha = sum(alpha_channel(), false);
    if (is_alpha(channel)) return total() > 0 ? limited(nearest(alpha, total())) : centre(channel);
    if (total() <= 0) return limited(nearest(sum(channel, true), Wide{scale} * max()) + offset);
    if (alpha <= 0) return exact(channel, false);
    return limited(nearest(sum(channel, true) * total(), alpha * scale) + offset);
  }

  // Chains of fma.
  [[nodiscard]] std::int64_t decimal(int channel, bool weighted) const {
    const auto offset = static_cast<float>(matrix_.offset);
    double all = 0;
    for (const double weight : weights_)
      all += weight;
    float plain = offset;
    float products = 0;
    float alphas = 0;
    bool opaque = true;
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      const auto weight = static_cast<float>(weights_[i] / matrix_.scale);
      const auto sample = static_cast<float>(at(i, channel));
      plain = std::fma(weight, sample, plain);
      if (!weighted) continue;
      const auto alpha = static_cast<float>(at(i, alpha_channel()));
      products = std::fma(weight, sample * alpha, products);
      alphas = std::fma(weight, alpha, alphas);
      opaque = opaque && (weight == 0 || at(i, alpha_channel()) == max());
    }
    if (!weighted) return rounded(plain);
    if (is_alpha(channel)) {
      if (opaque && all > 0) return max();
      return all > 0 ? rounded(alphas * static_cast<float>(matrix_.scale / all)) : centre(channel);
    }
    if (opaque) return rounded(plain);
    if (!(all > 0)) return rounded(std::fma(products, 1.0F / static_cast<float>(max()), offset));
    if (!(alphas > 0)) return rounded(plain);
    // Half up, by long division: every number here is exact in double precision or nearly so far
    // from a tie that it does not matter; see the test of the division below.
    const float dividend =
        std::fma(offset, alphas, products * static_cast<float>(all / matrix_.scale));
    const long double quotient =
        static_cast<long double>(dividend) / static_cast<long double>(alphas);
    return limited(
        static_cast<std::int64_t>(std::floor(std::clamp<long double>(quotient, -1, 70000) + 0.5L)));
  }

 private:
  [[nodiscard]] std::int64_t max() const { return format_.max_sample(); }
  [[nodiscard]] int alpha_channel() const { return format_.channels - 1; }
  [[nodiscard]] bool is_alpha(int channel) const {
    return format_.has_alpha() && channel == alpha_channel();
  }
  [[nodiscard]] std::int64_t at(std::size_t i, int channel) const {
    return pixels_.at(i).at(static_cast<std::size_t>(channel));
  }
  [[nodiscard]] std::int64_t centre(int channel) const { return at(pixels_.size() / 2, channel); }
  [[nodiscard]] std::int64_t whole_offset() const {
    return static_cast<std::int64_t>(
        matrix_.offset_in_percent
            ? std::nearbyint(matrix_.offset * static_cast<double>(max()) / 100)
            : matrix_.offset);
  }
  [[nodiscard]] Wide sum(int channel, bool times_alpha) const {
    Wide all = 0;
    for (std::size_t i = 0; i < pixels_.size(); ++i)
      all += Wide{static_cast<std::int64_t>(weights_[i])} * at(i, channel) *
             (times_alpha ? at(i, alpha_channel()) : 1);
    return all;
  }
  [[nodiscard]] Wide total() const {
    Wide all = 0;
    for (const double weight : weights_)
      all += static_cast<std::int64_t>(weight);
    return all;
  }
  // Half up.
  static std::int64_t nearest(Wide dividend, Wide divisor) {
    const Wide twice = 2 * dividend + divisor;
    Wide quotient = twice / (2 * divisor);
    if (quotient * 2 * divisor > twice) --quotient;
    return static_cast<std::int64_t>(quotient);
  }
  [[nodiscard]] std::int64_t limited(std::int64_t number) const {
    return std::clamp<std::int64_t>(number, 0, max());
  }
  [[nodiscard]] std::int64_t rounded(float number) const {
    return static_cast<std::int64_t>(
        std::nearbyint(std::clamp(number, 0.0F, static_cast<float>(max()))));
  }

  const ConvolutionMatrix& matrix_;
  PixelFormat format_;
  std::vector<std::array<std::int64_t, 4>> pixels_;
  std::vector<double> weights_;
};

Image naive_convolution(const Image& image, const ConvolveParameters& parameters, bool exact) {
  Image result(image.size(), image.format());
  const bool weighted = parameters.alpha == AlphaMode::weighted && image.format().has_alpha();
  for (const auto [x, y] : test::each_pixel(image)) {
    const NaivePixel pixel(image, parameters, x, y);
    for (int c = 0; c < image.format().channels; ++c) {
      const std::int64_t sample = exact ? pixel.exact(c, weighted) : pixel.decimal(c, weighted);
      test::set_sample(result, x, y, c, static_cast<std::uint32_t>(sample));
    }
  }
  return result;
}

struct MatrixSample {
  ConvolutionMatrix matrix;
  bool exact = true;
};

ConvolutionMatrix random_matrix(int width, int height, int low, int high, unsigned seed) {
  std::mt19937 random(seed);
  ConvolutionMatrix matrix{.width = width, .height = height};
  for (int i = 0; i < width * height; ++i)
    matrix.coefficients.push_back(
        low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)));
  return matrix;
}

ConvolutionMatrix scaled(ConvolutionMatrix matrix, double scale, double offset) {
  matrix.scale = scale;
  matrix.offset = offset;
  return matrix;
}

ConvolutionMatrix averaging(ConvolutionMatrix matrix) {
  matrix.scale = std::accumulate(matrix.coefficients.begin(), matrix.coefficients.end(), 0.0);
  return matrix;
}

ConvolutionMatrix in_decimals(ConvolutionMatrix matrix) {
  for (double& number : matrix.coefficients)
    number = number * 0.37 + 0.01;
  return matrix;
}

// Sides from 1 to 15, sums above, below and at 0, scales that are and are not the sum, sums of 24,
// 32 and more bits.
const std::vector<MatrixSample>& samples() {
  static const std::vector<MatrixSample> all{
      {{3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1}, 16}},
      {{3, 3, {-1, -1, -1, -1, 8, -1, -1, -1, -1}, 1}},
      {{3, 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}, 1}},
      {{3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}, 3, 128}},
      {{1, 1, {3}, 2}},
      {{1, 1, {1}, 1, 50, true}},
      {{5, 1, {1, -4, 6, -4, 1}, 7, -3}},
      {scaled(random_matrix(1, 15, -5, 90, 1), 450, 0)},
      {scaled(random_matrix(15, 15, 0, 9, 2), 1000, 0)},
      {scaled(random_matrix(7, 3, -900, 4000, 3), 32768, 11)},
      {averaging(random_matrix(3, 5, 0, 40000, 4))},
      {{3, 1, {1, 2, -7}, 5}},
      {in_decimals({3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1}, 6}), false},
      {in_decimals({3, 3, {-1, -1, -1, -1, 8, -1, -1, -1, -1}, 1, 12.5}), false},
      {in_decimals(scaled(random_matrix(9, 7, -5, 9, 5), 44.4, 0)), false},
      {{5, 1, {-0.5, 0, 0, 0, 0.5}, 1}, false},
      {{1, 3, {-2.5, 1, -0.25}, 1, 100}, false},
  };
  return all;
}

// With alpha, most shortcuts need pixels that are opaque and others that are not.
std::vector<Image> convolve_pictures(ImageSize size, PixelFormat format) {
  std::vector<Image> made;
  made.push_back(test::random_image(size, format, 1));
  made.push_back(format.has_alpha() ? test::mixed_alpha_image(size, format, 2)
                                    : test::extreme_image(size, format, 2));
  if (format.has_alpha()) made.push_back(test::opaque_image(size, format, 3));
  return made;
}

void check_convolution(const Image& image, const ConvolveParameters& parameters, bool exact) {
  const Image expected = naive_convolution(image, parameters, exact);
  test::check_on_host(image, {make_convolve(parameters)}, expected, {2, 1000});
}

TEST(ConvolveOnProcessor, EqualsTheDefinition) {
  std::size_t turn = 0;
  for (const MatrixSample& sample : samples()) {
    for (const PixelFormat& format : test::all_formats()) {
      for (const ImageSize size : {ImageSize{1, 1}, {2, 9}, {33, 7}, {351, 3}}) {
        for (const Image& image : convolve_pictures(size, format)) {
          const ConvolveParameters parameters{
              sample.matrix, test::all_borders.at(turn++ % 4),
              turn % 3 == 0 ? AlphaMode::independent : AlphaMode::weighted};
          check_convolution(image, parameters, sample.exact);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(ConvolveOnDevices, EqualsTheProcessor) {
  std::vector<test::ChainInTurn> chains;
  for (const MatrixSample& sample : samples()) {
    chains.emplace_back([&](Border border, AlphaMode alpha) {
      return StageChain{make_convolve({sample.matrix, border, alpha})};
    });
  }
  test::expect_the_processors_bits(chains, {.share = 2, .pictures = convolve_pictures});
}

TEST(Convolve, OfOnesIsTheBlur) {
  const ConvolutionMatrix ones{3, 3, std::vector<double>(9, 1), 9};
  for (const PixelFormat& format : test::all_formats()) {
    for (const Image& image : convolve_pictures({67, 19}, format)) {
      for (const Border border : test::all_borders) {
        for (const AlphaMode alpha : {AlphaMode::weighted, AlphaMode::independent}) {
          EXPECT_TRUE(same_pixels(
              test::filter_on_host(image, {make_convolve({ones, border, alpha})}, {}),
              test::filter_on_host(image, {make_blur({.border = border, .alpha = alpha})}, {})));
        }
      }
    }
  }
}

// The first coefficient is that of the top left neighbour, so everything moves down and right.
TEST(Convolve, DoesNotTurnTheMatrixRound) {
  const Image image = test::random_image({9, 7}, {3, 8}, 5);
  const Image moved =
      test::filter_on_host(image, {convolve_stage_kind().make("1 0 0; 0 0 0; 0 0 0")}, {});
  EXPECT_EQ(test::sample_at(moved, 4, 3, 1), test::sample_at(image, 3, 2, 1));
}

TEST(Convolve, LeavesTheAlphaOfAnOpaquePictureOpaque) {
  const Image image = test::opaque_image({20, 10}, {4, 8}, 6);
  const Image edges =
      test::filter_on_host(image, {convolve_stage_kind().make("-1 -1 -1; -1 8 -1; -1 -1 -1")}, {});
  const Image brighter =
      test::filter_on_host(image, {convolve_stage_kind().make("1 2 1", {{"--scale", "2"}})}, {});
  for (const auto [x, y] : test::each_pixel({20, 10})) {
    ASSERT_EQ(test::sample_at(edges, x, y, 3), 255U);
    ASSERT_EQ(test::sample_at(brighter, x, y, 3), 255U);
  }
}

// Too large to be weighted by alpha.
TEST(Convolve, OfLargeWholeNumbersIsExactWithIndependentAlpha) {
  const ConvolveParameters parameters{
      {3, 1, {1, 40'000, 1}, 1}, Border::mirror, AlphaMode::independent};
  for (const PixelFormat& format : test::all_formats())
    check_convolution(test::random_image({33, 7}, format, 7), parameters, true);
}

}  // namespace
}  // namespace gpufilter
