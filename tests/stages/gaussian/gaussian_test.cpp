// --gaussian gives the same bits everywhere: the processor with each instruction set against a
// second implementation, every device against the processor.
#include "stages/gaussian/gaussian.hpp"

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/naive_stages.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

Image naive_gaussian(const Image& image, const GaussianParameters& parameters) {
  const test::NaiveGaussian gaussian(image, parameters);
  Image result(image.size(), image.format());
  for (const auto [x, y, c] : test::each_sample(image))
    test::set_sample(result, x, y, c, static_cast<std::uint32_t>(gaussian.at(x, y, c)));
  return result;
}

// Random, extreme and, with alpha, partly transparent and opaque pictures.
TEST(GaussianWeights, AddUpAndFallOff) {
  for (const int bits : {15, 26}) {
    for (const double sigma : {0.2, 0.5, 1.0, 2.5, 7.3, 20.0, 50.0}) {
      const auto weights = gaussian_weights(sigma, 3, bits);
      EXPECT_EQ(weights.size(), static_cast<std::size_t>(std::ceil(3 * sigma)) + 1);
      EXPECT_EQ(2 * std::accumulate(weights.begin() + 1, weights.end(), weights.front()) -
                    weights.front(),
                1 << bits);
      double sum = 0;
      for (std::size_t d = 0; d < weights.size(); ++d)
        sum += (d == 0 ? 1 : 2) * std::exp(-std::pow(static_cast<double>(d) / sigma, 2) / 2);
      for (std::size_t d = 1; d < weights.size(); ++d) {
        EXPECT_NEAR(weights[d],
                    std::exp(-std::pow(static_cast<double>(d) / sigma, 2) / 2) / sum * (1 << bits),
                    0.5001)
            << sigma << " at " << d;
      }
    }
  }
  EXPECT_EQ(gaussian_weights(1, 3, 15), (std::vector<std::int32_t>{13076, 7931, 1770, 145}));
}

class GaussianOnTheProcessor : public ::testing::TestWithParam<PixelFormat> {};

TEST_P(GaussianOnTheProcessor, IsTheDefinition) {
  for (const ImageSize size : {ImageSize{1, 1}, {2, 9}, {67, 5}, {150, 23}}) {
    for (const Image& image : test::different_pictures(size, GetParam())) {
      for (const Border border : test::all_borders) {
        for (const AlphaMode alpha : {AlphaMode::weighted, AlphaMode::independent}) {
          const double sigma = size.width > 100 ? 1.2 : (border == Border::mirror ? 2.4 : 0.6);
          const GaussianParameters parameters{.sigma = sigma, .border = border, .alpha = alpha};
          const Image expected = naive_gaussian(image, parameters);
          test::check_on_host(image, {make_gaussian(parameters)}, expected, {1, 4, 1000});
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, GaussianOnTheProcessor, ::testing::ValuesIn(test::all_formats()),
                         [](const auto& made) {
                           return "of" + std::to_string(made.param.channels) + "x" +
                                  std::to_string(made.param.depth);
                         });

TEST(Gaussian, OfAnySigmaIsTheDefinition) {
  const Image image = test::random_image({70, 2}, {1, 8}, 5);
  const Image deep = test::extreme_image({70, 2}, {1, 16}, 6);
  for (const double sigma : {0.2, 0.21, 0.33, 5.0, 12.5, 50.0}) {
    for (const double truncate : {1.0, 3.0, 6.0}) {
      const GaussianParameters parameters{.sigma = sigma, .truncate = truncate};
      for (const Image* each : {&image, &deep}) {
        ASSERT_TRUE(same_pixels(test::filter_on_host(*each, {make_gaussian(parameters)}, {}),
                                naive_gaussian(*each, parameters)))
            << sigma << " to " << truncate;
      }
    }
  }
}

TEST(Gaussian, HasNoSeamsInWidePictures) {
  for (const Image& image :
       {test::random_image({1200, 3}, {3, 8}, 9), test::random_image({3300, 3}, {1, 8}, 11),
        test::mixed_alpha_image({1200, 7}, {4, 8}, 10)}) {
    for (const double sigma : {1.0, 3.0}) {
      const GaussianParameters parameters{.sigma = sigma, .border = Border::wrap};
      const Image expected = naive_gaussian(image, parameters);
      test::check_on_host(image, {make_gaussian(parameters)}, expected, {1000});
    }
  }
}

// Both directions at once: in blocks of 64 samples, tiles of 1728 and fewer, and groups of eight
// rows, whose windows reach an odd number of rows up and down.
TEST(Gaussian, InTilesIsTheDefinition) {
  std::size_t next = 0;
  for (const int channels : {1, 2, 3, 4}) {
    for (const double sigma : {0.5, 1.0, 1.3, 2.6}) {
      for (const ImageSize size : {ImageSize{1, 40}, {64 / channels + 1, 9}, {576, 8}, {577, 25}}) {
        const PixelFormat format{channels, 8};
        const Image image = ++next % 2 == 0 ? test::extreme_image(size, format, next)
                                            : test::random_image(size, format, next);
        const GaussianParameters parameters{.sigma = sigma,
                                            .border = test::all_borders.at(next % 4),
                                            .alpha = AlphaMode::independent};
        const Image expected = naive_gaussian(image, parameters);
        test::check_on_host(image, {make_gaussian(parameters)}, expected, {1, 7, 17, 1000});
      }
    }
  }
}

// The rounded result of double precision, with the bell itself instead of whole weights.
TEST(Gaussian, IsWithinOneOfDoublePrecision) {
  for (const int depth : {8, 16}) {
    const Image image = test::extreme_image({90, 80}, {1, depth}, 7);
    for (const double sigma : {0.5, 2.0, 11.0}) {
      const Image found = test::filter_on_host(image, {make_gaussian({.sigma = sigma})}, {});
      const int radius = static_cast<int>(std::ceil(3 * sigma));
      const auto bell = [&](int d) { return std::exp(-d * d / (2 * sigma * sigma)); };
      double total = 0;
      for (int d = -radius; d <= radius; ++d)
        total += bell(d);
      for (int y = 0; y < 80; y += 7) {
        for (int x = 0; x < 90; x += 3) {
          double sum = 0;
          for (int dy = -radius; dy <= radius; ++dy) {
            for (int dx = -radius; dx <= radius; ++dx) {
              sum += bell(dx) * bell(dy) *
                     test::sample_at(image, border_position(Border::replicate, x + dx, 90),
                                     border_position(Border::replicate, y + dy, 80), 0);
            }
          }
          ASSERT_NEAR(test::sample_at(found, x, y, 0), sum / total / total, 1)
              << sigma << ", " << depth << " bits";
        }
      }
    }
  }
}

// Colours weighted by alpha are compared where the result is visible at all.
TEST(Gaussian, WeightedByAlphaIsWithinOneOfDoublePrecision) {
  for (const int depth : {8, 16}) {
    const Image image = test::random_image({70, 60}, {4, depth}, 12);
    for (const double sigma : {0.6, 2.0, 11.0}) {
      const Image found = test::filter_on_host(image, {make_gaussian({.sigma = sigma})}, {});
      const int radius = static_cast<int>(std::ceil(3 * sigma));
      const auto bell = [&](int d) { return std::exp(-d * d / (2 * sigma * sigma)); };
      for (int y = 0; y < 60; y += 7) {
        for (int x = 0; x < 70; x += 3) {
          double colors = 0;
          double alphas = 0;
          for (int dy = -radius; dy <= radius; ++dy) {
            for (int dx = -radius; dx <= radius; ++dx) {
              const int column = border_position(Border::replicate, x + dx, 70);
              const int row = border_position(Border::replicate, y + dy, 60);
              const double alpha = bell(dx) * bell(dy) * test::sample_at(image, column, row, 3);
              colors += alpha * test::sample_at(image, column, row, 1);
              alphas += alpha;
            }
          }
          ASSERT_NEAR(test::sample_at(found, x, y, 1), colors / alphas, 1)
              << sigma << ", " << depth << " bits";
        }
      }
    }
  }
}

TEST(Gaussian, OfAnOpaquePictureIsThatOfItsChannels) {
  for (const PixelFormat& format : {PixelFormat{2, 8}, {4, 8}, {2, 16}, {4, 16}}) {
    const Image image = test::opaque_image({61, 20}, format, 8);
    EXPECT_TRUE(same_pixels(
        test::filter_on_host(image, {make_gaussian({.sigma = 2})}, {}),
        test::filter_on_host(image, {make_gaussian({.sigma = 2, .alpha = AlphaMode::independent})},
                             {})));
  }
}

// Opaque tiles of rows take faster loops: one transparent pixel near the edges of tiles, which have
// 1536 samples, and of the picture.
TEST(Gaussian, OfAPictureWithOneTransparentPixelIsTheDefinition) {
  for (const PixelFormat& format : {PixelFormat{2, 8}, {4, 8}, {4, 16}}) {
    const int tile = 1536 / format.channels;
    const int width = 2 * tile + 3;
    std::size_t next = 0;
    for (const Border border : test::all_borders) {
      for (const int x : {0, tile - 1, tile, tile + 2, width - 1}) {
        const int y = std::array{0, 5, 10}.at(next % 3);
        const std::uint32_t alpha = next % 2 == 0 ? 0 : format.max_sample() - 1;
        Image image = test::opaque_image({width, 11}, format, ++next);
        test::set_sample(image, x, y, format.channels - 1, alpha);
        const GaussianParameters parameters{.sigma = 0.9, .border = border};
        const Image expected = naive_gaussian(image, parameters);
        test::check_on_host(image, {make_gaussian(parameters)}, expected, {5, 1000});
      }
    }
  }
}

// So are whole parts of 256 rows that are opaque.
TEST(Gaussian, OfAHighPictureWithOneTransparentPixelIsTheDefinition) {
  for (const int channels : {2, 4}) {
    for (const Border border : test::all_borders) {
      for (const int y : {0, 254, 257, 300, 599}) {
        Image image = test::opaque_image({21, 600}, {channels, 8}, static_cast<std::uint64_t>(y));
        test::set_sample(image, y % 21, y, channels - 1, 7);
        const GaussianParameters parameters{.sigma = 0.9, .border = border};
        const Image expected = naive_gaussian(image, parameters);
        test::check_on_host(image, {make_gaussian(parameters)}, expected, {270, 1000});
      }
    }
  }
}

}  // namespace
}  // namespace gpufilter
