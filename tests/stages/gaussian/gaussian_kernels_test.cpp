// The kernels for both directions of a Gaussian give the bits of the reference: strips for small
// radii, tiles for large ones. Other devices than NVIDIA's multiply in plain C, so the rest of the
// kernels is proved anywhere.
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "device/device_rows.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

// The devices here, as if they were such GPUs.
std::vector<std::unique_ptr<Session>> nvidia_like_sessions() {
  std::vector<std::unique_ptr<Session>> all;
  for (const auto& session : test::all_sessions()) {
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

// What the kernel of the chain's only stage is called in reports.
std::string kernel_of(const StageChain& chain, Session& session, const PictureShape& picture) {
  const Steps steps = steps_of(lower_chain(chain, {.shape = picture}).at(0), &session.device());
  return steps.size() == 1 ? steps.front()->prepare(session, picture)->description().variant : "";
}

// Filters on each device, in bands of these heights, by the kernel whose name is in `kernel`.
void expect_reference(const StageChain& chain, const PixelFormat& format, const std::string& kernel,
                      const std::vector<std::pair<ImageSize, int>>& sizes) {
  for (const auto& session : nvidia_like_sessions()) {
    for (const auto& [size, rows] : sizes) {
      const Image image = size.width == 65 ? test::extreme_image(size, format, 2)
                                           : test::random_image(size, format, 1);
      const PlanLimits limits{.device = &session->device(), .band_rows = rows};
      ASSERT_TRUE(test::contains(kernel_of(chain, *session, {size, format}), kernel));
      ASSERT_TRUE(same_pixels(test::filter_on_device(*session, image, chain, limits),
                              test::filter_on_host(image, chain, {})))
          << session->device().name << ", " << size.width << "x" << size.height;
    }
  }
}

TEST_P(GaussianInOneKernel, IsTheReference) {
  const auto& [kernel, parameters] = GetParam();
  const auto& [channels, sigma, border] = parameters;
  // Several strips; bands; work-groups between the edges; a picture of one pixel, only once because
  // PoCL compiles it apart.
  std::vector<std::pair<ImageSize, int>> sizes{{{131, 50}, 1000}, {{65, 70}, 33}};
  if (channels == 3 && sigma < 3) sizes.push_back({{263, 135}, 1000});
  if (sigma < 1) sizes.push_back({{1, 1}, 1});
  expect_reference(
      {make_gaussian({.sigma = sigma, .border = border, .alpha = AlphaMode::independent})},
      {channels, 8}, kernel, sizes);
}

TEST(SharpenInOneKernel, IsTheReference) {
  const AlphaMode alpha = AlphaMode::independent;
  const std::vector<std::pair<ImageSize, int>> sizes{{{131, 50}, 1000}, {{65, 70}, 33}};
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
}  // namespace
}  // namespace gpufilter
