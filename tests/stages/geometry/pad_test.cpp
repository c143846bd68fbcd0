// --pad and --resize --fit contain: a frame around a picture, whatever carries it out.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stages/geometry/geometry.hpp"
#include "stages/resize/resize.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::objection_to_value;
using test::same_pixels;

// Around the picture, red, or for grey pictures its brightness, 76.
const Color red{255, 0, 0};

std::uint32_t around(const PixelFormat& format, int channel, bool transparent) {
  if (transparent) return 0;
  if (format.has_alpha() && channel == format.channels - 1) return format.max_sample();
  const std::uint32_t scale = format.max_sample() / 255;
  if (format.color_channels() == 1) return 76 * scale;
  return channel == 0 ? 255 * scale : 0;
}

Image framed(const Image& image, ImageSize size, PixelPosition corner, bool transparent) {
  const PixelFormat from = image.format();
  const PixelFormat format{from.channels + (transparent && !from.has_alpha() ? 1 : 0), from.depth};
  Image result(size, format);
  for (const auto [x, y] : test::each_pixel(size)) {
    const int u = x - corner.x;
    const int v = y - corner.y;
    const bool inside = 0 <= u && u < image.size().width && 0 <= v && v < image.size().height;
    for (int c = 0; c < format.channels; ++c) {
      const std::uint32_t sample = !inside             ? around(format, c, transparent)
                                   : c < from.channels ? test::sample_at(image, u, v, c)
                                                       : format.max_sample();
      test::set_sample(result, x, y, c, sample);
    }
  }
  return result;
}

PadColor color_of(bool transparent) {
  return transparent ? std::nullopt : PadColor(red);
}

TEST(Pad, FramesThePictureOnTheProcessor) {
  for (const PixelFormat& format : test::all_formats()) {
    const Image image = test::random_image({31, 17}, format, 1);
    for (const bool transparent : {false, true}) {
      const auto stage = make_pad({.sides = {3, 1, 20, 5}, .color = color_of(transparent)});
      const Image expected = framed(image, {37, 40}, {5, 3}, transparent);
      for (const int rows : {1, 3, 16, 1000})
        EXPECT_TRUE(
            same_pixels(test::filter_on_host(image, {stage}, {.band_rows = rows}), expected))
            << rows;
    }
  }
}

// What is larger is cut off, what is smaller is framed.
TEST(Pad, MakesASizeOfItsOwn) {
  const Image image = test::random_image({31, 17}, {3, 8}, 3);
  const auto padded = [&](ImageSize size, Gravity gravity) {
    return test::filter_on_host(image, {make_pad({.size = size, .gravity = gravity, .color = red})},
                                {});
  };
  EXPECT_TRUE(
      same_pixels(padded({40, 20}, Gravity::center), framed(image, {40, 20}, {4, 1}, false)));
  EXPECT_TRUE(
      same_pixels(padded({40, 20}, Gravity::southwest), framed(image, {40, 20}, {0, 3}, false)));
  const Image part = test::filter_on_host(image, {make_crop({{10, 17}, {10, 0}})}, {});
  EXPECT_TRUE(same_pixels(padded({10, 18}, Gravity::south), framed(part, {10, 18}, {0, 1}, false)));
  EXPECT_TRUE(same_pixels(padded({31, 17}, Gravity::center), image));
}

TEST(Pad, StandsAnywhereInAChain) {
  const Image image = test::random_image({31, 17}, {4, 8}, 4);
  const auto pad = make_pad({.sides = {4, 4, 4, 4}, .color = red});
  const Image inner = test::filter_on_host(image, {make_blur({})}, {});
  const Image expected =
      test::filter_on_host(framed(inner, {39, 25}, {4, 4}, false), {make_blur({})}, {});
  const StageChain chain{make_blur({}), pad, make_blur({})};
  for (const int rows : {1, 7, 1000})
    EXPECT_TRUE(same_pixels(test::filter_on_host(image, chain, {.band_rows = rows}), expected));
}

TEST(ResizeContain, PadsToTheBox) {
  const Image image = test::random_image({40, 20}, {3, 8}, 5);
  const auto resized = [&](ResizeParameters parameters) {
    parameters.pad = red;
    return test::filter_on_host(image, {make_resize(parameters)}, {});
  };
  const Image inside = resized({.width = 20, .height = 20});
  EXPECT_EQ(inside.size(), (ImageSize{20, 10}));
  ResizeParameters contain{.width = 20, .height = 20, .fit = ResizeFit::contain};
  EXPECT_TRUE(same_pixels(resized(contain), framed(inside, {20, 20}, {0, 5}, false)));
  contain.gravity = Gravity::south;
  EXPECT_TRUE(same_pixels(resized(contain), framed(inside, {20, 20}, {0, 10}, false)));
  // A picture that stays is framed all the same, and never cut.
  contain = {.width = 60, .height = 10, .fit = ResizeFit::contain, .only = ResizeOnly::enlarge};
  EXPECT_TRUE(same_pixels(resized(contain), framed(image, {60, 20}, {10, 0}, false)));
  // Without a box there is nothing to pad.
  EXPECT_EQ(resized({.width = 20, .fit = ResizeFit::contain}).size(), (ImageSize{20, 10}));
  const auto stage = make_resize({.width = 9, .height = 9, .fit = ResizeFit::contain, .pad = {}});
  EXPECT_EQ(test::result_of(stage, {{40, 20}, {3, 8}}), (PictureShape{{9, 9}, {4, 8}}));
}

TEST(ResizeCover, KeepsThePartThatGravityNames) {
  const Image image = test::random_image({40, 20}, {3, 8}, 6);
  const Image whole = test::filter_on_host(image, {make_resize({.width = 20})}, {});
  const auto east =
      make_resize({.width = 10, .height = 10, .fit = ResizeFit::cover, .gravity = Gravity::east});
  EXPECT_TRUE(same_pixels(test::filter_on_host(image, {east}, {}),
                          test::filter_on_host(whole, {make_crop({{10, 10}, {10, 0}})}, {})));
}

TEST(Pad, RefusesOtherForms) {
  for (const std::string value : {"x", "3x", "x4", "1,2", "1,2,3", "1,2,3,4,5", "-3", "3.5",
                                  "1,,2,3", "3x4+1", "1000001", "10%"}) {
    EXPECT_EQ(objection_to_value(pad_stage_kind(), value),
              "--pad " + value +
                  ": write WIDTHxHEIGHT, a number of pixels for all sides, or "
                  "TOP,RIGHT,BOTTOM,LEFT; at most 1000000 each");
  }
  EXPECT_EQ(objection_to_value(pad_stage_kind(), "0x3"),
            "--pad 0x3: WIDTH and HEIGHT must be at least 1");
  EXPECT_TRUE(objection_to_value(pad_stage_kind(), "3", {{"--pad-color", "#12"}})
                  .starts_with("--pad-color "));
  EXPECT_EQ(objection_to_value(pad_stage_kind(), "0"), "none");
  EXPECT_EQ(pad_stage_kind().make("7")->label(), "7,7,7,7");
}

}  // namespace
}  // namespace gpufilter
