// What the kernels of --resize promise: areas are means, constants stay, and invisible colours are
// not shown.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "stages/resize/resize.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

constexpr std::array every_kernel{ResizeKernel::lanczos, ResizeKernel::cubic,
                                  ResizeKernel::linear,  ResizeKernel::area,
                                  ResizeKernel::box,     ResizeKernel::nearest};

StageChain exactly(ImageSize size, ResizeKernel kernel) {
  return {make_resize(
      {.width = size.width, .height = size.height, .fit = ResizeFit::fill, .kernel = kernel})};
}

// What a result covers of each sample, in double precision.
double mean_of_area(const Image& row, int x, int width) {
  const double scale = static_cast<double>(row.width()) / width;
  double sum = 0;
  for (int i = 0; i < row.width(); ++i) {
    const double covered = std::min((x + 1) * scale, i + 1.0) - std::max(x * scale, double(i));
    sum += std::max(covered, 0.0) * test::sample_at(row, i, 0, 0);
  }
  return sum / scale;
}

TEST(ResizeKernels, ByAreaIsTheMeanOfAnArea) {
  const auto resized = [](const Image& row, int width) {
    return test::filter_on_host(row, exactly({width, 1}, ResizeKernel::area), {});
  };
  Image three({3, 1}, {1, 8});
  for (const auto& [x, sample] : {std::pair{0, 0U}, {1, 90U}, {2, 30U}})
    test::set_sample(three, x, 0, 0, sample);
  EXPECT_EQ(test::sample_at(resized(three, 2), 0, 0, 0), 30U);
  EXPECT_EQ(test::sample_at(resized(three, 2), 1, 0, 0), 50U);
  for (const int depth : {8, 16}) {
    for (const int from : {1, 5, 97, 1000, 4801}) {
      const Image row = test::extreme_image({from, 1}, {1, depth}, 3);
      for (const int width : {1, 2, 3, 37, 96, 97, 98, 1500}) {
        const Image found = resized(row, width);
        for (int x = 0; x < width; ++x) {
          // Weights have 22 bits.
          ASSERT_NEAR(test::sample_at(found, x, 0, 0), mean_of_area(row, x, width),
                      depth == 8 ? 0.51 : 1)
              << depth << " bits, " << from << " to " << width << " at " << x;
        }
      }
    }
  }
}

TEST(ResizeKernels, KeepsConstants) {
  for (const ResizeKernel kernel : every_kernel) {
    for (const int depth : {8, 16}) {
      if (depth == 8 && kernel != ResizeKernel::area) continue;  // Pillow's weights
      for (const auto& [from, width] :
           {std::pair{77, 1}, {963, 1}, {1000, 1}, {1000, 999}, {60000, 7}, {3, 1000}}) {
        for (const std::uint32_t level : {0xFFFFU, 0x8001U}) {
          Image row({from, 1}, {1, depth});
          for (int x = 0; x < from; ++x)
            test::set_sample(row, x, 0, 0, depth == 8 ? level >> 8 : level);
          const Image found = test::filter_on_host(row, exactly({width, 1}, kernel), {});
          for (int x = 0; x < width; ++x) {
            ASSERT_EQ(test::sample_at(found, x, 0, 0), test::sample_at(row, 0, 0, 0))
                << depth << " bits, " << from << " to " << width;
          }
        }
      }
    }
  }
}

// A blue disc in the middle; around it, and in places within, invisible green.
Image blue_and_invisible_green(PixelFormat format) {
  Image image({64, 64}, format);
  for (const auto [x, y] : test::each_pixel({64, 64})) {
    for (int c = 0; c < 4; ++c)
      test::set_sample(image, x, y, c, 0);
    const bool visible = (x - 32) * (x - 32) + (y - 32) * (y - 32) < 600 && (x * y) % 11 != 3;
    test::set_sample(image, x, y, visible ? 2 : 1, format.max_sample());
    test::set_sample(image, x, y, 3, visible ? format.max_sample() : 0);
  }
  return image;
}

TEST(ResizeKernels, NeverShowsInvisibleColours) {
  for (const PixelFormat& format : {PixelFormat{4, 8}, PixelFormat{4, 16}}) {
    const Image image = blue_and_invisible_green(format);
    for (const ResizeKernel kernel : every_kernel) {
      for (const ImageSize& size : {ImageSize{150, 131}, {91, 64}, {40, 51}, {200, 20}}) {
        const StageChain chain = exactly(size, kernel);
        const Image found = test::filter_on_host(image, chain, {});
        int shown = 0;
        for (const auto [x, y] : test::each_pixel(size)) {
          const bool green = test::sample_at(found, x, y, 1) != 0;
          if (green && test::sample_at(found, x, y, 3) != 0) ++shown;
        }
        EXPECT_EQ(shown, 0) << to_string(format) << " to " << size.width << "x" << size.height;
        test::check_on_host(image, chain, found, {1000});
        for (Session* session : test::kernel_sessions(format))
          test::check_on_device(*session, image, chain, found, {1000});
      }
    }
  }
}

}  // namespace
}  // namespace gpufilter
