// kernels/stage/common.cl on every device against the same rules implemented on the host.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "device/device_rows.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/border.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

constexpr const char* probes = R"(
__kernel void probe_border(int first, int n, __global int *positions) {
  const int i = get_global_id(0);
  positions[i] = border_position(first + i, n);
}
__kernel void probe_to_sample(__global const float *values, __global int *samples) {
  const int i = get_global_id(0);
  samples[i] = to_sample(values[i]);
}
// `colors` gets red, green, blue, alpha and luma of each pixel.
__kernel void probe_pixel(__global const sample_t *row, __global int *colors, __global sample_t *copy) {
  const int x = get_global_id(0);
  const pixel_t pixel = load_pixel(row, x);
  colors[x * 5] = RED(pixel);
  colors[x * 5 + 1] = GREEN(pixel);
  colors[x * 5 + 2] = BLUE(pixel);
  colors[x * 5 + 3] = ALPHA(pixel);
  colors[x * 5 + 4] = luma_bt709(pixel);
  store_pixel(copy, x, pixel);
}
)";

// The kernels above after the project's own common.cl.
class CommonKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
    std::filesystem::copy(std::filesystem::path(GPUFILTER_SOURCE) / "kernels/stage/common.cl",
                          folder_.path());
    test::write_file(folder_ / "probe.cl", probes);
    setenv("GPUFILTER_KERNELS", folder_.path().c_str(), 1);
  }
  void TearDown() override { unsetenv("GPUFILTER_KERNELS"); }

  test::TemporaryFolder folder_;
};

template <typename Number>
std::vector<Number> downloaded(Queue& queue, const Buffer& buffer) {
  std::vector<Number> numbers(buffer.size() / sizeof(Number));
  queue.download(buffer, numbers.data(), buffer.size());
  queue.finish();
  return numbers;
}

TEST_F(CommonKernel, FindsTheHostsPositionsBeyondBorders) {
  constexpr std::int32_t first = -30;
  constexpr std::size_t count = 61;
  for (const auto& session : test::all_sessions()) {
    Queue queue = session->make_queue();
    const Buffer positions = session->allocate(count * sizeof(std::int32_t));
    for (const Border border :
         {Border::replicate, Border::mirror, Border::wrap, Border::constant}) {
      const Kernel kernel = session->make_kernel(
          {"probe.cl", "probe_border", formatted("-D BORDER={}", static_cast<int>(border))});
      for (const std::int32_t n : {1, 2, 3, 4, 7}) {
        queue.launch(kernel, {count, 1, 1, 1}, {first, n, positions});
        const auto found = downloaded<std::int32_t>(queue, positions);
        for (std::size_t i = 0; i < count; ++i) {
          const int position = first + static_cast<int>(i);
          EXPECT_EQ(found[i], border_position(border, position, n))
              << session->device().name << ", border " << static_cast<int>(border) << ", position "
              << position << " of " << n;
        }
      }
    }
  }
}

TEST_F(CommonKernel, RoundsHalfToEvenAndSaturates) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const int depth : {8, 16}) {
    const auto max = static_cast<float>(PixelFormat{1, depth}.max_sample());
    std::vector<float> values{0.0F,       -0.0F,      -1.0F,         -infinity, infinity,
                              3e38F,      1e-45F,     std::nanf(""), max,       max + 1,
                              max - 0.5F, max + 0.4F, -0.4F,         0.4999999F};
    for (float half = 0.5F; half < max; half += 1.0F)
      values.insert(values.end(), {half, std::nextafter(half, 0.0F), std::nextafter(half, max)});
    for (const auto& session : test::all_sessions()) {
      Queue queue = session->make_queue();
      const Buffer input = session->allocate(values.size() * sizeof(float));
      const Buffer output = session->allocate(values.size() * sizeof(std::int32_t));
      queue.upload(input, values.data(), input.size());
      const Kernel kernel =
          session->make_kernel({"probe.cl", "probe_to_sample", formatted("-D DEPTH={}", depth)});
      queue.launch(kernel, {values.size(), 1, 1, 1}, {input, output});
      const auto samples = downloaded<std::int32_t>(queue, output);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float within = values[i] > 0 ? std::min(values[i], max) : 0.0F;
        ASSERT_EQ(samples[i], static_cast<std::int32_t>(std::nearbyint(within)))
            << session->device().name << ", " << values[i] << " at " << depth << " bits";
      }
    }
  }
}

TEST_F(CommonKernel, ReadsAndWritesPixelsOfEveryFormat) {
  constexpr int width = 333;
  for (const PixelFormat& pixel : test::all_formats()) {
    const Image image = test::random_image({width, 1}, pixel, 1);
    const std::size_t bytes = width * pixel.bytes_per_pixel();
    for (const auto& session : test::all_sessions()) {
      Queue queue = session->make_queue();
      const Buffer row = session->allocate(bytes);
      const Buffer copy = session->allocate(bytes);
      const Buffer colors = session->allocate(width * 5 * sizeof(std::int32_t));
      queue.upload(row, image.rows().data, bytes);
      const Kernel kernel = session->make_kernel({"probe.cl", "probe_pixel", format_macros(pixel)});
      queue.launch(kernel, {width, 1, 1, 1}, {row, colors, copy});
      const auto found = downloaded<std::int32_t>(queue, colors);
      for (int x = 0; x < width; ++x) {
        const auto sample = [&](int c) { return test::sample_at(image, x, 0, c); };
        const bool is_grey = pixel.color_channels() == 1;
        const std::uint32_t green = sample(is_grey ? 0 : 1);
        const std::uint32_t blue = sample(is_grey ? 0 : 2);
        const std::array expected{
            sample(0), green, blue,
            pixel.has_alpha() ? sample(pixel.channels - 1) : pixel.max_sample(),
            luma_bt709(sample(0), green, blue)};
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(found[static_cast<std::size_t>(x) * 5 + i],
                    static_cast<std::int32_t>(expected[i]))
              << session->device().name << ", " << to_string(pixel) << ", number " << i;
        }
      }
      const auto* original = image.rows().data;
      EXPECT_EQ(downloaded<std::uint8_t>(queue, copy),
                std::vector<std::uint8_t>(original, original + bytes));
    }
  }
}

}  // namespace
}  // namespace gpufilter
