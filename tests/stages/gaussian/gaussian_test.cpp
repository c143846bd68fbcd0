// --gaussian gives the same bits everywhere: the processor with each instruction set against a
// second implementation, every device against the processor.
#include "stages/gaussian/gaussian.hpp"

#include "device/device_rows.hpp"
#include "support/naive_stages.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

Image naive_gaussian(const Image& image, const GaussianParameters& parameters) {
  const NaiveGaussian gaussian(image, parameters);
  Image result(image.size(), image.format());
  for (const auto [x, y, c] : each_sample(image))
    set_sample(result, x, y, c, static_cast<std::uint32_t>(gaussian.at(x, y, c)));
  return result;
}

TEST(GaussianWeights, AddUpAndFallOff) {
  for (const auto& [bits, sigma] :
       each_of(std::array{15, 26}, std::vector<double>{0.2, 0.5, 1.0, 2.5, 7.3, 20.0, 50.0})) {
    const auto weights = gaussian_weights(sigma, 3, bits);
    EXPECT_EQ(weights.size(), static_cast<std::size_t>(std::ceil(3 * sigma)) + 1);
    EXPECT_EQ(
        2 * std::accumulate(weights.begin() + 1, weights.end(), weights.front()) - weights.front(),
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
  EXPECT_EQ(gaussian_weights(1, 3, 15), (std::vector<std::int32_t>{13076, 7931, 1770, 145}));
}

class GaussianOnTheProcessor : public ::testing::TestWithParam<PixelFormat> {};

TEST_P(GaussianOnTheProcessor, IsTheDefinition) {
  for (const ImageSize size : {ImageSize{1, 1}, {2, 9}, {67, 5}, {150, 23}}) {
    for (const Image& image : different_pictures(size, GetParam())) {
      for (const auto& [border, alpha] :
           each_of(all_borders, std::array{AlphaMode::weighted, AlphaMode::independent})) {
        const double sigma = size.width > 100 ? 1.2 : (border == Border::mirror ? 2.4 : 0.6);
        const GaussianParameters parameters{.sigma = sigma, .border = border, .alpha = alpha};
        const Image expected = naive_gaussian(image, parameters);
        check_on_host(image, {make_gaussian(parameters)}, expected, {1, 4, 1000});
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, GaussianOnTheProcessor, ::testing::ValuesIn(all_formats()),
                         [](const auto& made) {
                           return "of" + std::to_string(made.param.channels) + "x" +
                                  std::to_string(made.param.depth);
                         });

TEST(Gaussian, OfAnySigmaIsTheDefinitionAndHasNoSeamsInWidePictures) {
  const Image image = random_image({70, 2}, {1, 8}, 5);
  const Image deep = extreme_image({70, 2}, {1, 16}, 6);
  for (const auto& [sigma, truncate] :
       each_of(std::vector<double>{0.2, 0.21, 0.33, 5.0, 12.5, 50.0},
               std::vector<double>{1.0, 3.0, 6.0})) {
    const GaussianParameters parameters{.sigma = sigma, .truncate = truncate};
    for (const Image* each : {&image, &deep}) {
      ASSERT_TRUE(same_pixels(filter_on_host(*each, {make_gaussian(parameters)}, {}),
                              naive_gaussian(*each, parameters)))
          << sigma << " to " << truncate;
    }
  }
  for (const Image& image :
       {random_image({1200, 3}, {3, 8}, 9), random_image({3300, 3}, {1, 8}, 11),
        mixed_alpha_image({1200, 7}, {4, 8}, 10)}) {
    for (const double sigma : {1.0, 3.0}) {
      const GaussianParameters parameters{.sigma = sigma, .border = Border::wrap};
      const Image expected = naive_gaussian(image, parameters);
      check_on_host(image, {make_gaussian(parameters)}, expected, {1000});
    }
  }
}

// Both directions at once: in blocks of 64 samples, tiles of 1728 and fewer, and groups of eight
// rows, whose windows reach an odd number of rows up and down.
TEST(Gaussian, InTilesIsTheDefinition) {
  std::size_t next = 0;
  for (const auto& [channels, sigma] :
       each_of(std::array{1, 2, 3, 4}, std::vector<double>{0.5, 1.0, 1.3, 2.6})) {
    for (const ImageSize size : {ImageSize{1, 40}, {64 / channels + 1, 9}, {576, 8}, {577, 25}}) {
      const PixelFormat format{channels, 8};
      const Image image =
          ++next % 2 == 0 ? extreme_image(size, format, next) : random_image(size, format, next);
      const GaussianParameters parameters{
          .sigma = sigma, .border = all_borders.at(next % 4), .alpha = AlphaMode::independent};
      const Image expected = naive_gaussian(image, parameters);
      check_on_host(image, {make_gaussian(parameters)}, expected, {1, 7, 17, 1000});
    }
  }
}

// The rounded result of double precision, with the bell itself instead of whole weights. Colours
// weighted by alpha are compared where the result is visible at all.
TEST(Gaussian, IsWithinOneOfDoublePrecisionAndWeightedByAlphaToo) {
  for (const auto& [depth, channels, sigma] :
       each_of(std::array{8, 16}, std::array{1, 4}, std::vector<double>{0.6, 2.0, 11.0})) {
    const PixelFormat format{channels, depth};
    const Image image =
        channels == 1 ? extreme_image({90, 80}, format, 7) : random_image({70, 60}, format, 12);
    const Image found = filter_on_host(image, {make_gaussian({.sigma = sigma})}, {});
    const int radius = static_cast<int>(std::ceil(3 * sigma));
    const auto bell = [&](int d) { return std::exp(-d * d / (2 * sigma * sigma)); };
    const int channel = channels == 1 ? 0 : 1;
    const auto window = each_pixel({2 * radius + 1, 2 * radius + 1});
    for (int y = 0; y < image.size().height; y += 7) {
      for (int x = 0; x < image.width(); x += 3) {
        double colors = 0;
        double weights = 0;
        for (const auto [i, j] : window) {
          const int column = border_position(Border::replicate, x + i - radius, image.width());
          const int row = border_position(Border::replicate, y + j - radius, image.size().height);
          const double weight = bell(i - radius) * bell(j - radius) *
                                (channels == 1 ? 1U : sample_at(image, column, row, 3));
          colors += weight * sample_at(image, column, row, channel);
          weights += weight;
        }
        ASSERT_NEAR(sample_at(found, x, y, channel), colors / weights, 1)
            << sigma << ", " << to_string(format);
      }
    }
  }
}

TEST(Gaussian, OfAnOpaquePictureIsThatOfItsChannels) {
  for (const PixelFormat& format : {PixelFormat{2, 8}, {4, 8}, {2, 16}, {4, 16}}) {
    const Image image = opaque_image({61, 20}, format, 8);
    EXPECT_TRUE(same_pixels(
        filter_on_host(image, {make_gaussian({.sigma = 2})}, {}),
        filter_on_host(image, {make_gaussian({.sigma = 2, .alpha = AlphaMode::independent})}, {})));
  }
}

// Opaque tiles of rows take faster loops: one transparent pixel near the edges of tiles, which have
// 1536 samples, and of the picture.
TEST(Gaussian, OfAPictureWithOneTransparentPixelIsTheDefinition) {
  for (const PixelFormat& format : {PixelFormat{2, 8}, {4, 8}, {4, 16}}) {
    const int tile = 1536 / format.channels;
    const int width = 2 * tile + 3;
    std::size_t next = 0;
    for (const auto& [border, x] :
         each_of(all_borders, std::array{0, tile - 1, tile, tile + 2, width - 1})) {
      const int y = std::array{0, 5, 10}.at(next % 3);
      const std::uint32_t alpha = next % 2 == 0 ? 0 : format.max_sample() - 1;
      Image image = opaque_image({width, 11}, format, ++next);
      set_sample(image, x, y, format.channels - 1, alpha);
      const GaussianParameters parameters{.sigma = 0.9, .border = border};
      const Image expected = naive_gaussian(image, parameters);
      check_on_host(image, {make_gaussian(parameters)}, expected, {5, 1000});
    }
  }
}

// So are whole parts of 256 rows that are opaque.
TEST(Gaussian, OfAHighPictureWithOneTransparentPixelIsTheDefinition) {
  for (const auto& [channels, border, y] :
       each_of(std::array{2, 4}, all_borders, std::array{0, 254, 257, 300, 599})) {
    Image image = opaque_image({21, 600}, {channels, 8}, static_cast<std::uint64_t>(y));
    set_sample(image, y % 21, y, channels - 1, 7);
    const GaussianParameters parameters{.sigma = 0.9, .border = border};
    const Image expected = naive_gaussian(image, parameters);
    check_on_host(image, {make_gaussian(parameters)}, expected, {270, 1000});
  }
}

// The kernels for both directions of a Gaussian give the bits of the reference: strips for small
// radii, tiles for large ones. Other devices than NVIDIA's multiply in plain C, so the rest of the
// kernels is proved anywhere.

// The devices here, as if they were such GPUs.
std::vector<std::unique_ptr<Session>> nvidia_like_sessions() {
  std::vector<std::unique_ptr<Session>> all;
  for (const auto& session : all_sessions()) {
    DeviceInfo device = session->device();
    if (device.compute_capability == 0) {
      device.kind = DeviceKind::gpu;
      device.compute_capability = 75;
      device.local_memory = 48 << 10U;
    }
    if (has_byte_products(device)) all.push_back(std::make_unique<Session>(device, std::nullopt));
  }
  return all;
}

struct GaussianCase {
  int channels;
  double sigma;
  Border border;
};

class GaussianInOneKernel : public ::testing::TestWithParam<std::tuple<const char*, GaussianCase>> {
};

// What the last kernel of the chain's only stage is called in reports.
std::string kernel_of(const StageChain& chain, Session& session, PictureShape picture) {
  std::string variant;
  for (const auto& step :
       steps_of(lower_chain(chain, {.shape = picture}).at(0), &session.device())) {
    variant = step->prepare(session, picture)->description().variant;
    picture = step->output(picture);
  }
  return variant;
}

// Filters on each device, in bands of these heights, by the kernel whose name is in `kernel`.
void expect_reference(const StageChain& chain, const PixelFormat& format, const std::string& kernel,
                      const std::vector<std::pair<ImageSize, int>>& sizes) {
  for (const auto& session : nvidia_like_sessions()) {
    for (const auto& [size, rows] : sizes) {
      const Image image =
          size.width == 65 ? extreme_image(size, format, 2) : random_image(size, format, 1);
      const PlanLimits limits{.device = &session->device(), .band_rows = rows};
      ASSERT_TRUE(contains(kernel_of(chain, *session, {size, format}), kernel));
      ASSERT_TRUE(same_pixels(filter_on_device(*session, image, chain, limits),
                              filter_on_host(image, chain, {})))
          << session->device().name << ", " << size.width << "x" << size.height;
    }
  }
}

TEST_P(GaussianInOneKernel, IsTheReference) {
  const auto& [kernel, parameters] = GetParam();
  const auto& [channels, sigma, border] = parameters;
  // More than a strip or tile, which have up to 64 columns, of one channel 128, and up to 56 rows;
  // bands; strips of 32 columns and 40 or 56 rows between the edges; a picture of one pixel.
  std::vector<std::pair<ImageSize, int>> sizes{{{channels == 1 ? 131 : 67, 58}, 1000},
                                               {{65, 40}, 33}};
  if (channels == 3 && sigma < 3) sizes.push_back({{99, 115}, 1000});
  if (sigma < 1) sizes.push_back({{1, 1}, 1});
  if (sigma > 40) sizes = {{{67, 70}, 41}};  // two teams in each direction, in two bands
  expect_reference(
      {make_gaussian({.sigma = sigma, .border = border, .alpha = AlphaMode::independent})},
      {channels, 8}, kernel, sizes);
}

TEST(SharpenInOneKernel, IsTheReference) {
  const AlphaMode alpha = AlphaMode::independent;
  const std::vector<std::pair<ImageSize, int>> sizes{{{67, 58}, 1000}, {{65, 40}, 33}};
  expect_reference({make_sharpen({.amount = 1.7, .sigma = 0.9, .alpha = alpha})}, {3, 8}, "strips",
                   sizes);
  expect_reference({make_sharpen({.amount = 10,
                                  .sigma = 3,
                                  .threshold = 3,
                                  .luma_only = true,
                                  .border = Border::constant,
                                  .alpha = alpha})},
                   {3, 8}, "strips", sizes);
  expect_reference({make_sharpen({.amount = 0.8, .luma_only = true, .alpha = alpha})}, {4, 8},
                   "strips", sizes);
  expect_reference({make_sharpen({.amount = 3, .sigma = 6, .alpha = alpha})}, {1, 8}, "strips",
                   sizes);
  expect_reference({make_sharpen({.amount = 0.5, .alpha = alpha})}, {2, 8}, "strips", sizes);
}

// The radius is ceil(3 * sigma): products along rows of 32 to 128 samples, along columns of 16 to
// 64 rows, for all 16 rows of results alike or for half of them with 16 fewer.
INSTANTIATE_TEST_SUITE_P(
    Strips, GaussianInOneKernel,
    ::testing::Combine(::testing::Values("strips"),
                       ::testing::Values(GaussianCase{3, 1, Border::replicate},
                                         GaussianCase{3, 1.3, Border::constant},
                                         GaussianCase{3, 2.9, Border::mirror},
                                         GaussianCase{1, 2.5, Border::mirror},
                                         GaussianCase{1, 7, Border::wrap},
                                         GaussianCase{4, 0.9, Border::wrap},
                                         GaussianCase{4, 5, Border::mirror},
                                         GaussianCase{2, 0.3, Border::constant})));
INSTANTIATE_TEST_SUITE_P(
    Tiles, GaussianInOneKernel,
    ::testing::Combine(::testing::Values("tiles"),
                       ::testing::Values(GaussianCase{3, 0.2, Border::replicate},
                                         GaussianCase{1, 21, Border::mirror},
                                         GaussianCase{4, 13, Border::wrap},
                                         GaussianCase{2, 10.4, Border::constant},
                                         GaussianCase{3, 7.3, Border::constant})));

INSTANTIATE_TEST_SUITE_P(
    Directions, GaussianInOneKernel,
    ::testing::Combine(::testing::Values("32 numbers"),
                       ::testing::Values(GaussianCase{3, 51, Border::replicate},
                                         GaussianCase{4, 41.3, Border::constant})));

// --sharpen gives the same bits everywhere: the processor with each instruction set against a
// second implementation, every device against the processor.

// From the definition.
Image naive_sharpening(const Image& image, const SharpenParameters& parameters) {
  const PixelFormat& format = image.format();
  const NaiveGaussian gaussian(
      image, {.sigma = parameters.sigma, .border = parameters.border, .alpha = parameters.alpha});
  const bool keeps_alpha = parameters.alpha == AlphaMode::weighted && format.has_alpha();
  const float amount = static_cast<float>(parameters.amount) / 128;
  const float threshold =
      static_cast<float>(parameters.threshold * (format.depth == 8 ? 1 : 257)) * 128;
  Image result(image.size(), format);
  for (const auto [x, y] : each_pixel(image)) {
    const auto difference = [&](int c) {
      return static_cast<float>(std::int64_t{sample_at(image, x, y, c)} * 128 -
                                gaussian.at(x, y, c, 7));
    };
    for (int c = 0; c < format.channels; ++c) {
      const std::uint32_t sample = sample_at(image, x, y, c);
      float change = difference(c);
      if (parameters.luma_only && format.color_channels() == 3 && c < 3) {
        change = std::fma(0.0722F, difference(2),
                          std::fma(0.7152F, difference(1), 0.2126F * difference(0)));
      }
      const bool stays = std::abs(change) <= threshold || (keeps_alpha && c + 1 == format.channels);
      const float sharp = std::fma(amount, change, static_cast<float>(sample));
      const auto max = static_cast<float>(format.max_sample());
      set_sample(result, x, y, c,
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

TEST(Sharpen, IsTheDefinitionOnTheProcessorAndHasNoSeamsInWidePictures) {
  for (const PixelFormat& format : all_formats()) {
    // The last is wider than a tile.
    for (const ImageSize size : {ImageSize{1, 3}, {77, 11}, {701, 2}}) {
      for (const Image& image : pictures_with_a_speck(size, format)) {
        for (const SharpenParameters& parameters : sharpenings()) {
          const Image expected = naive_sharpening(image, parameters);
          check_on_host(image, {make_sharpen(parameters)}, expected, {2, 1000});
        }
      }
    }
  }
  const Image image = random_image({1200, 5}, {3, 8}, 6);
  for (const SharpenParameters& parameters : sharpenings()) {
    const Image expected = naive_sharpening(image, parameters);
    check_on_host(image, {make_sharpen(parameters)}, expected, {1000});
  }
}

TEST(Sharpen, ByNothingChangesNothing) {
  const Image image = random_image({50, 20}, {3, 8}, 6);
  EXPECT_TRUE(same_pixels(filter_on_host(image, {make_sharpen({.amount = 0})}, {}), image));
  EXPECT_TRUE(same_pixels(
      filter_on_host(image, {make_sharpen({.amount = 5, .threshold = 255})}, {}), image));
}

}  // namespace
}  // namespace gpufilter::test
