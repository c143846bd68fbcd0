// --dilate, --erode, --open and --close give the same bits everywhere: the processor with each
// instruction set against the largest and smallest samples of windows, every device against the
// processor.
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "stages/window/window_stages.hpp"
#include "support/filtering.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::objection_to_value;
using test::same_pixels;

constexpr std::array operations{Morphology::dilate, Morphology::erode, Morphology::open,
                                Morphology::close};

// From the definition: every sample of every window.
Image naive_extremes(const Image& image, const MorphologyParameters& parameters, bool largest) {
  const PixelFormat format = image.format();
  const bool weighs = parameters.alpha == AlphaMode::weighted && format.has_alpha();
  const auto sample = [&](int x, int y, int c) {
    return test::sample_beyond(image, x, y, c, parameters.border);
  };
  Image result(image.size(), format);
  const int radius = parameters.radius;
  for (const auto [x, y] : test::each_pixel(image)) {
    bool visible = true;
    for (int c = format.channels - 1; c >= 0; --c) {
      std::vector<std::uint32_t> window;
      for (int row = y - radius; row <= y + radius; ++row) {
        for (int column = x - radius; column <= x + radius; ++column) {
          const bool hidden = weighs && c + 1 < format.channels && largest &&
                              sample(column, row, format.channels - 1) == 0;
          window.push_back(hidden ? 0 : sample(column, row, c));
        }
      }
      const std::uint32_t found = largest ? *std::max_element(window.begin(), window.end())
                                          : *std::min_element(window.begin(), window.end());
      if (weighs && c + 1 == format.channels) visible = found > 0;
      test::set_sample(result, x, y, c, visible ? found : 0);
    }
  }
  return result;
}

Image naive_morphology(const Image& image, const MorphologyParameters& parameters) {
  switch (parameters.operation) {
    case Morphology::dilate:
      return naive_extremes(image, parameters, true);
    case Morphology::erode:
      return naive_extremes(image, parameters, false);
    case Morphology::open:
      return naive_extremes(naive_extremes(image, parameters, false), parameters, true);
    case Morphology::close:
      return naive_extremes(naive_extremes(image, parameters, true), parameters, false);
  }
  return test::copy_of(image);
}

void check_morphology(const Image& image, const MorphologyParameters& parameters) {
  const Image expected = naive_morphology(image, parameters);
  test::check_on_host(image, {make_morphology(parameters)}, expected, {3, 1000});
}

TEST(MorphologyOnProcessor, EqualsTheExtremesOfWindows) {
  std::size_t turn = 0;
  for (const Morphology operation : operations) {
    for (const int radius : {1, 2, 3, 8}) {
      for (const PixelFormat& format : test::all_formats()) {
        for (const ImageSize size : {ImageSize{1, 1}, {2, 9}, {33, 7}, {351, 3}}) {
          for (const Image& image : test::window_pictures(size, format)) {
            check_morphology(image, {operation, radius, test::all_borders.at(turn++ % 4),
                                     turn % 5 == 0 ? AlphaMode::independent : AlphaMode::weighted});
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// Pictures wider than a tile, which is the narrower the larger the radius is: 13056 and 1152
// samples.
TEST(MorphologyOnProcessor, HasNoSeamsInWidePictures) {
  std::size_t turn = 0;
  for (const Morphology operation : operations) {
    for (const PixelFormat& format : {PixelFormat{3, 8}, {4, 16}}) {
      for (const auto& [radius, samples] : {std::pair{1, 13056}, std::pair{26, 1152}}) {
        const int width = samples / format.channels + 1 + static_cast<int>(turn % 3);
        check_morphology(test::random_image({width, 2}, format, 7),
                         {operation, radius, test::all_borders.at(turn++ % 4)});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(MorphologyOnProcessor, TakesTheLargestWindow) {
  for (const Morphology operation : {Morphology::dilate, Morphology::erode}) {
    for (const Border border : test::all_borders) {
      check_morphology(test::random_image({25, 5}, {3, 8}, 5), {operation, 127, border});
      if (HasFatalFailure()) return;
    }
  }
}

// Replicated and mirrored pixels lie in the window anyway, so they never win: OpenCV's constant
// that never wins gives the same.
TEST(Morphology, PixelsOutsideNeverWin) {
  const Image image = test::random_image({23, 17}, {3, 8}, 6);
  for (const Morphology operation : operations) {
    for (const int radius : {1, 3, 30}) {
      const Image replicated = test::filter_on_host(
          image, {make_morphology({operation, radius, Border::replicate})}, {});
      const Image mirrored =
          test::filter_on_host(image, {make_morphology({operation, radius, Border::mirror})}, {});
      EXPECT_TRUE(same_pixels(replicated, mirrored));
    }
  }
}

TEST(MorphologyText, IsAWholeNumberUpTo127) {
  EXPECT_EQ(objection_to_value(dilate_stage_kind(), "0"),
            "--dilate 0: a whole number from 1 to 127");
  EXPECT_EQ(objection_to_value(erode_stage_kind(), "128"),
            "--erode 128: a whole number from 1 to 127");
  EXPECT_EQ(objection_to_value(open_stage_kind(), "2.5"),
            "--open 2.5: a whole number from 1 to 127");
  EXPECT_EQ(objection_to_value(close_stage_kind(), "disk"),
            "--close disk: a whole number from 1 to 127");
  EXPECT_EQ(objection_to_value(close_stage_kind(), "127"), "none");
}

}  // namespace
}  // namespace gpufilter
