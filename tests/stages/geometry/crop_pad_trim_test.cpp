// --crop copies exactly the pixels of its rectangle, wherever it stands in a chain and whatever
// carries it out.

#include "stages/geometry/geometry.hpp"
#include "stages/resize/resize.hpp"
#include "stages/window/blur.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

constexpr std::array crop_bands{1, 3, 16, 1000};

Image part_of(const Image& image, const CropParameters& crop) {
  Image part(crop.size, image.format());
  for (const auto [x, y, c] : each_sample(crop.size, image.format().channels))
    set_sample(part, x, y, c, sample_at(image, crop.corner.x + x, crop.corner.y + y, c));
  return part;
}

const std::vector<CropParameters>& rectangles() {
  static const std::vector<CropParameters> all{
      {{67, 37}, {0, 0}}, {{1, 1}, {0, 0}},   {{1, 1}, {66, 36}},
      {{66, 1}, {1, 36}}, {{1, 37}, {33, 0}}, {{65, 35}, {1, 1}},
      {{16, 9}, {13, 7}}, {{3, 30}, {64, 7}}, {{64, 20}, {3, 17}}};
  return all;
}

TEST(Crop, CopiesItsRectangleOnTheProcessorAndOfACropIsOneCropAndOfEverythingIsLeftOut) {
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({67, 37}, format, 1);
    for (const auto& [crop, rows] : each_of(rectangles(), crop_bands)) {
      const Image found = filter_on_host(image, {make_crop(crop)}, {.band_rows = rows});
      ASSERT_TRUE(same_pixels(found, part_of(image, crop)))
          << make_crop(crop)->label() << ", bands of " << rows;
    }
  }
  const StageChain chain{make_crop({{40, 30}, {5, 6}}), make_crop({{8, 9}, {10, 11}})};
  const Plan plan = make_plan({{67, 37}, {3, 8}}, chain);
  ASSERT_EQ(plan.passes.size(), 1U);
  EXPECT_EQ(plan.passes.front().step->title().label, "8x9+15+17");
  EXPECT_EQ(plan.output().size, (ImageSize{8, 9}));
  const auto everything = make_crop({{67, 37}, {0, 0}});
  EXPECT_EQ(make_plan({{67, 37}, {3, 8}}, {everything, make_blur({})}).passes.size(), 1U);
  EXPECT_EQ(make_plan({{68, 37}, {3, 8}}, {everything, make_blur({})}).passes.size(), 2U);
}

TEST(Crop, ReadsOnlyItsRows) {
  const Plan plan = make_plan({{67, 370}, {3, 8}}, {make_crop({{6, 20}, {0, 100}})});
  EXPECT_EQ(plan.windows({5, 8}).front(), (RowRange{105, 108}));
}

std::string refusal(const CropParameters& crop, ImageSize picture) {
  return objection_to<UnsuitableSize>([&] { return make_crop(crop)->output({picture, {3, 8}}); });
}

TEST(Crop, RefusesPicturesThatAreTooSmall) {
  constexpr int huge = 2'147'483'647;
  EXPECT_EQ(refusal({{60, 30}, {7, 7}}, {67, 37}), "none");
  EXPECT_EQ(refusal({{60, 30}, {8, 7}}, {67, 37}),
            "--crop 60x30+8+7 reaches beyond its 67x37 pixels");
  EXPECT_EQ(refusal({{60, 30}, {7, 8}}, {67, 37}),
            "--crop 60x30+7+8 reaches beyond its 67x37 pixels");
  EXPECT_NE(refusal({{1, 1}, {67, 0}}, {67, 37}), "none");
  EXPECT_NE(refusal({{huge, 1}, {1, 0}}, {67, 37}), "none");
  EXPECT_NE(refusal({{huge, huge}, {huge, huge}}, {67, 37}), "none");
}

TEST(Crop, RefusesOtherForms) {
  EXPECT_EQ(crop_stage_kind().make("3x4+5+6")->label(), "3x4+5+6");
  for (const std::string value : {"3",
                                  "3x4+5",
                                  "3x4+5+6+7",
                                  "x4+5+6",
                                  "3X4+5+6",
                                  "3x4-5+6",
                                  "3x4+ 5+6",
                                  "+3x4+5+6",
                                  "3.5x4+5+6",
                                  "3x4+5+6 ",
                                  "99999999999x4+5+6",
                                  "101%",
                                  "3x4%%",
                                  "%",
                                  "1.5",
                                  "3x",
                                  "3x4+9999999999+0",
                                  "3:",
                                  ":2",
                                  "3:2:1",
                                  "3:2+1+1",
                                  "-3:2",
                                  "3: 2",
                                  "1000001:1"}) {
    EXPECT_EQ(objection_to_value(crop_stage_kind(), value),
              "--crop " + value +
                  ": write WIDTHxHEIGHT+X+Y or WIDTHxHEIGHT in whole pixels or percent, such as "
                  "640x480+10+20 or 50%, or a ratio such as 3:2");
  }
  EXPECT_EQ(objection_to_value(crop_stage_kind(), "0x4+5+6"),
            "--crop 0x4+5+6: WIDTH and HEIGHT must be above 0");
  EXPECT_EQ(objection_to_value(crop_stage_kind(), "3:0"),
            "--crop 3:0: WIDTH and HEIGHT must be above 0");
  EXPECT_EQ(objection_to_value(crop_stage_kind(), "3x0%"),
            "--crop 3x0%: WIDTH and HEIGHT must be above 0");
}

// The rectangle that a value means in a picture of 100x60 pixels.
std::string meaning(const std::string& value, const std::string& gravity = "auto") {
  const auto stage = crop_stage_kind().make(value, {{"--gravity", gravity}});
  const Plan plan = make_plan({{100, 60}, {3, 8}}, {stage});
  EXPECT_EQ(plan.passes.size(), 1U);
  return plan.passes.front().step->title().label;
}

TEST(Crop, LiesWhereGravitySaysAndTakesPercentAndWithGravityRefusesPicturesThatAreTooSmall) {
  EXPECT_EQ(meaning("40x30"), "40x30+30+15") << "the middle";
  EXPECT_EQ(meaning("40x30+1+2"), "40x30+1+2") << "from the top left corner";
  EXPECT_EQ(meaning("40x30", "northwest"), "40x30+0+0");
  EXPECT_EQ(meaning("3:2"), "90x60+5+0");
  EXPECT_EQ(meaning("2:1", "south"), "100x50+0+10");
  EXPECT_EQ(meaning("1.91:1", "northwest"), "100x52+0+0") << "52.36 rows";
  EXPECT_EQ(meaning("9:16", "east"), "34x60+66+0") << "33.75 columns";
  EXPECT_EQ(meaning("1:1000"), "1x60+49+0");
  EXPECT_EQ(meaning("40x30", "north"), "40x30+30+0");
  EXPECT_EQ(meaning("40x30", "southeast"), "40x30+60+30");
  EXPECT_EQ(meaning("40x30+1+2", "southeast"), "40x30+59+28");
  EXPECT_EQ(meaning("40x30+1+2", "center"), "40x30+31+17");
  EXPECT_EQ(meaning("50%"), "50x30+25+15");
  EXPECT_EQ(meaning("50%", "northwest"), "50x30+0+0");
  EXPECT_EQ(meaning("100%x50%", "south"), "100x30+0+30");
  EXPECT_EQ(meaning("30x50%+1+1"), "30x30+1+1");
  EXPECT_EQ(meaning("33.3%"), "33x20+33+20");
  EXPECT_EQ(meaning("0.1%"), "1x1+49+29") << "never less than a pixel";
  EXPECT_EQ(make_plan({{100, 60}, {3, 8}}, {crop_stage_kind().make("100%")}).passes.size(), 1U);
  for (const std::string value : {"101x1", "1x61", "100x60+1+0", "90x10+20+0"}) {
    const auto crop = crop_stage_kind().make(value, {{"--gravity", "east"}});
    EXPECT_EQ(objection_to<UnsuitableSize>([&] {
                return crop->lower({.shape = {{100, 60}, {3, 8}}});
              }),
              "--crop " + value + " reaches beyond its 100x60 pixels");
  }
}

// --pad and --resize --fit contain: a frame around a picture, whatever carries it out.

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
  for (const auto [x, y] : each_pixel(size)) {
    const int u = x - corner.x;
    const int v = y - corner.y;
    const bool inside = 0 <= u && u < image.size().width && 0 <= v && v < image.size().height;
    for (int c = 0; c < format.channels; ++c) {
      const std::uint32_t sample = !inside             ? around(format, c, transparent)
                                   : c < from.channels ? sample_at(image, u, v, c)
                                                       : format.max_sample();
      set_sample(result, x, y, c, sample);
    }
  }
  return result;
}

PadColor color_of(bool transparent) {
  return transparent ? std::nullopt : PadColor(red);
}

TEST(Pad, FramesThePictureOnTheProcessorAndMakesASizeOfItsOwn) {
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({31, 17}, format, 1);
    for (const bool transparent : {false, true}) {
      const auto stage = make_pad({.sides = {3, 1, 20, 5}, .color = color_of(transparent)});
      const Image expected = framed(image, {37, 40}, {5, 3}, transparent);
      for (const int rows : {1, 3, 16, 1000})
        EXPECT_TRUE(same_pixels(filter_on_host(image, {stage}, {.band_rows = rows}), expected))
            << rows;
    }
  }
  // What is larger is cut off, what is smaller is framed.
  const Image image = random_image({31, 17}, {3, 8}, 3);
  const auto padded = [&](ImageSize size, Gravity gravity) {
    return filter_on_host(image, {make_pad({.size = size, .gravity = gravity, .color = red})}, {});
  };
  EXPECT_TRUE(
      same_pixels(padded({40, 20}, Gravity::center), framed(image, {40, 20}, {4, 1}, false)));
  EXPECT_TRUE(
      same_pixels(padded({40, 20}, Gravity::southwest), framed(image, {40, 20}, {0, 3}, false)));
  const Image part = filter_on_host(image, {make_crop({{10, 17}, {10, 0}})}, {});
  EXPECT_TRUE(same_pixels(padded({10, 18}, Gravity::south), framed(part, {10, 18}, {0, 1}, false)));
  EXPECT_TRUE(same_pixels(padded({31, 17}, Gravity::center), image));
}

TEST(Pad, StandsAnywhereInAChain) {
  const Image image = random_image({31, 17}, {4, 8}, 4);
  const auto pad = make_pad({.sides = {4, 4, 4, 4}, .color = red});
  const Image inner = filter_on_host(image, {make_blur({})}, {});
  const Image expected =
      filter_on_host(framed(inner, {39, 25}, {4, 4}, false), {make_blur({})}, {});
  const StageChain chain{make_blur({}), pad, make_blur({})};
  for (const int rows : {1, 7, 1000})
    EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {.band_rows = rows}), expected));
}

TEST(ResizeContain, PadsToTheBox) {
  const Image image = random_image({40, 20}, {3, 8}, 5);
  const auto resized = [&](ResizeParameters parameters) {
    parameters.pad = red;
    return filter_on_host(image, {make_resize(parameters)}, {});
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
  EXPECT_EQ(result_of(stage, {{40, 20}, {3, 8}}), (PictureShape{{9, 9}, {4, 8}}));
}

TEST(ResizeCover, KeepsThePartThatGravityNames) {
  const Image image = random_image({40, 20}, {3, 8}, 6);
  const Image whole = filter_on_host(image, {make_resize({.width = 20})}, {});
  const auto east =
      make_resize({.width = 10, .height = 10, .fit = ResizeFit::cover, .gravity = Gravity::east});
  EXPECT_TRUE(same_pixels(filter_on_host(image, {east}, {}),
                          filter_on_host(whole, {make_crop({{10, 10}, {10, 0}})}, {})));
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

class Whole final : public WholePicture {
 public:
  explicit Whole(const Image& image) : image_(image), shape_{image.size(), image.format()} {}
  [[nodiscard]] const PictureShape& shape() const override { return shape_; }
  void read(const MutableRows& target) const override {
    for (int y = target.rows.begin; y < target.rows.end; ++y)
      std::memcpy(target.row(y), image_.rows().row(y), target.pitch);
  }

 private:
  const Image& image_;
  PictureShape shape_;
};

// "WxH+X+Y" of what is left.
std::string left_of(const Image& image, std::uint32_t limit = 0) {
  return make_crop(content_of(Whole(image), limit))->label();
}

// All samples `value`.
Image plain(ImageSize size, const PixelFormat& format, std::uint32_t value) {
  Image image(size, format);
  for (const auto [x, y, c] : each_sample(size, format.channels))
    set_sample(image, x, y, c, value);
  return image;
}

TEST(Trim, KeepsWhatDiffersFromTheTopLeftPixel) {
  for (const auto& [depth, channels] : each_of(std::array{8, 16}, std::array{1, 2, 3, 4})) {
    for (int c = 0; c < channels; ++c) {
      const PixelFormat format{channels, depth};
      Image image = plain({100, 300}, format, 200);
      set_sample(image, 40, 70, c, 201);
      EXPECT_EQ(left_of(image), "1x1+40+70");
      set_sample(image, 99, 250, c, 199);
      EXPECT_EQ(left_of(image), "60x181+40+70");
      set_sample(image, 3, 100, c, 0);
      EXPECT_EQ(left_of(image), "97x181+3+70");
      set_sample(image, 50, 299, c, 0);
      EXPECT_EQ(left_of(image), "97x230+3+70");
    }
  }
}

TEST(Trim, AnswersAsAllPixelsDoAndLeavesAPictureOfOneColourAlone) {
  const Image noise = random_image({37, 91}, {3, 8}, 1);
  EXPECT_EQ(left_of(noise), "37x91+0+0");
  // The edge at the top left stays where only that pixel is of its colour.
  Image image = plain({37, 91}, {3, 8}, 5);
  set_sample(image, 0, 0, 1, 6);
  EXPECT_EQ(left_of(image), "37x91+0+0");
  EXPECT_EQ(left_of(plain({9, 7}, {4, 16}, 1234)), "9x7+0+0");
  EXPECT_EQ(left_of(plain({1, 1}, {1, 8}, 0)), "1x1+0+0");
}

TEST(Trim, AllowsForADifference) {
  Image image = plain({20, 20}, {3, 8}, 100);
  set_sample(image, 4, 5, 2, 110);
  set_sample(image, 10, 12, 0, 89);
  EXPECT_EQ(left_of(image, 9), "7x8+4+5");
  EXPECT_EQ(left_of(image, 10), "1x1+10+12");
  EXPECT_EQ(left_of(image, 11), "20x20+0+0") << "nothing would be left";
  EXPECT_EQ(left_of(image, 255), "20x20+0+0");
}

TEST(Trim, TransparentPixelsAreAlike) {
  Image image = plain({20, 20}, {4, 8}, 0);
  set_sample(image, 4, 5, 0, 90);  // invisible
  EXPECT_EQ(left_of(image), "20x20+0+0");
  set_sample(image, 7, 9, 3, 1);
  EXPECT_EQ(left_of(image), "1x1+7+9");
}

TEST(Trim, TakesPercent) {
  Image image = plain({20, 20}, {1, 8}, 100);
  set_sample(image, 4, 5, 0, 112);  // 5 % of 255 is 12.75
  set_sample(image, 6, 5, 0, 113);
  const auto rest_of = [&](const std::shared_ptr<const Stage>& stage) {
    LoweredChain chain = lowered({stage}, image.format());
    EXPECT_TRUE(meet_demand(chain, 0, Whole(image)));
    return chain.at(0).steps.at(0)->title().label;
  };
  EXPECT_EQ(rest_of(trim_stage_kind().make("", {{"--fuzz", "5"}})), "1x1+6+5");
  EXPECT_EQ(rest_of(make_trim(0)), "3x1+4+5");
  EXPECT_THROW(static_cast<void>(trim_stage_kind().make("", {{"--fuzz", "101"}})), UsageError);
}

}  // namespace
}  // namespace gpufilter::test
