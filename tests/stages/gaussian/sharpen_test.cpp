// --sharpen gives the same bits everywhere: the processor with each instruction set against a
// second implementation, every device against the processor.
#include "stages/gaussian/sharpen.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "support/filtering.hpp"
#include "support/naive_stages.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

// From the definition.
Image naive_sharpening(const Image& image, const SharpenParameters& parameters) {
  const PixelFormat& format = image.format();
  const test::NaiveGaussian gaussian(
      image, {.sigma = parameters.sigma, .border = parameters.border, .alpha = parameters.alpha});
  const bool keeps_alpha = parameters.alpha == AlphaMode::weighted && format.has_alpha();
  const float amount = static_cast<float>(parameters.amount) / 128;
  const float threshold =
      static_cast<float>(parameters.threshold * (format.depth == 8 ? 1 : 257)) * 128;
  Image result(image.size(), format);
  for (const auto [x, y] : test::each_pixel(image)) {
    const auto difference = [&](int c) {
      return static_cast<float>(std::int64_t{test::sample_at(image, x, y, c)} * 128 -
                                gaussian.at(x, y, c, 7));
    };
    for (int c = 0; c < format.channels; ++c) {
      const std::uint32_t sample = test::sample_at(image, x, y, c);
      float change = difference(c);
      if (parameters.luma_only && format.color_channels() == 3 && c < 3) {
        change = std::fma(0.0722F, difference(2),
                          std::fma(0.7152F, difference(1), 0.2126F * difference(0)));
      }
      const bool stays = std::abs(change) <= threshold || (keeps_alpha && c + 1 == format.channels);
      const float sharp = std::fma(amount, change, static_cast<float>(sample));
      const auto max = static_cast<float>(format.max_sample());
      test::set_sample(
          result, x, y, c,
          stays ? sample
                : static_cast<std::uint32_t>(std::nearbyint(std::clamp(sharp, 0.0F, max))));
    }
  }
  return result;
}

std::vector<SharpenParameters> sharpenings() {
  return {
      {.amount = 0.8},
      {.amount = 10, .sigma = 0.4, .border = Border::wrap},
      {.amount = 1.5, .sigma = 2.1, .threshold = 20, .border = Border::constant},
      {.amount = 2.25, .sigma = 1.3, .threshold = 7.5, .luma_only = true, .border = Border::mirror},
      {.amount = 0.6, .sigma = 0.9, .luma_only = true, .alpha = AlphaMode::independent}};
}

TEST(Sharpen, IsTheDefinitionOnTheProcessor) {
  for (const PixelFormat& format : test::all_formats()) {
    // The last is wider than a tile.
    for (const ImageSize size : {ImageSize{1, 3}, {77, 11}, {701, 2}}) {
      for (const Image& image : test::pictures_with_a_speck(size, format)) {
        for (const SharpenParameters& parameters : sharpenings()) {
          const Image expected = naive_sharpening(image, parameters);
          test::check_on_host(image, {make_sharpen(parameters)}, expected, {2, 1000});
        }
      }
    }
  }
}

TEST(Sharpen, HasNoSeamsInWidePictures) {
  const Image image = test::random_image({1200, 5}, {3, 8}, 6);
  for (const SharpenParameters& parameters : sharpenings()) {
    const Image expected = naive_sharpening(image, parameters);
    test::check_on_host(image, {make_sharpen(parameters)}, expected, {1000});
  }
}

TEST(Sharpen, ByNothingChangesNothing) {
  const Image image = test::random_image({50, 20}, {3, 8}, 6);
  EXPECT_TRUE(same_pixels(test::filter_on_host(image, {make_sharpen({.amount = 0})}, {}), image));
  EXPECT_TRUE(same_pixels(
      test::filter_on_host(image, {make_sharpen({.amount = 5, .threshold = 255})}, {}), image));
}

}  // namespace
}  // namespace gpufilter
