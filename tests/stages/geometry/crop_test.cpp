// --crop copies exactly the pixels of its rectangle, wherever it stands in a chain and whatever
// carries it out.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "stages/colour/color.hpp"
#include "stages/geometry/geometry.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::objection_to_value;
using test::same_pixels;

constexpr std::array crop_bands{1, 3, 16, 1000};

Image part_of(const Image& image, const CropParameters& crop) {
  Image part(crop.size, image.format());
  for (const auto [x, y, c] : test::each_sample(crop.size, image.format().channels)) {
    test::set_sample(part, x, y, c,
                     test::sample_at(image, crop.corner.x + x, crop.corner.y + y, c));
  }
  return part;
}

const std::vector<CropParameters>& rectangles() {
  static const std::vector<CropParameters> all{
      {{67, 37}, {0, 0}}, {{1, 1}, {0, 0}},   {{1, 1}, {66, 36}},
      {{66, 1}, {1, 36}}, {{1, 37}, {33, 0}}, {{65, 35}, {1, 1}},
      {{16, 9}, {13, 7}}, {{3, 30}, {64, 7}}, {{64, 20}, {3, 17}},
  };
  return all;
}

TEST(Crop, CopiesItsRectangleOnTheProcessor) {
  for (const PixelFormat& format : test::all_formats()) {
    const Image image = test::random_image({67, 37}, format, 1);
    for (const CropParameters& crop : rectangles()) {
      for (const int rows : crop_bands) {
        const Image found = test::filter_on_host(image, {make_crop(crop)}, {.band_rows = rows});
        ASSERT_TRUE(same_pixels(found, part_of(image, crop)))
            << make_crop(crop)->label() << ", bands of " << rows;
      }
    }
  }
}

TEST(Crop, OfACropIsOneCrop) {
  const StageChain chain{make_crop({{40, 30}, {5, 6}}), make_crop({{8, 9}, {10, 11}})};
  const Plan plan = make_plan({{67, 37}, {3, 8}}, chain);
  ASSERT_EQ(plan.passes.size(), 1U);
  EXPECT_EQ(plan.passes.front().step->title().label, "8x9+15+17");
  EXPECT_EQ(plan.output().size, (ImageSize{8, 9}));
}

TEST(Crop, OfEverythingIsLeftOut) {
  const auto everything = make_crop({{67, 37}, {0, 0}});
  EXPECT_EQ(make_plan({{67, 37}, {3, 8}}, {everything, make_blur({})}).passes.size(), 1U);
  EXPECT_EQ(make_plan({{68, 37}, {3, 8}}, {everything, make_blur({})}).passes.size(), 2U);
}

TEST(Crop, ReadsOnlyItsRows) {
  const Plan plan = make_plan({{67, 370}, {3, 8}}, {make_crop({{6, 20}, {0, 100}})});
  EXPECT_EQ(plan.windows({5, 8}).front(), (RowRange{105, 108}));
}

std::string refusal(const CropParameters& crop, ImageSize picture) {
  return test::objection_to<UnsuitableSize>([&] {
    return make_crop(crop)->output({picture, {3, 8}});
  });
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
  for (const std::string value :
       {"3", "3x4+5", "3x4+5+6+7", "x4+5+6", "3X4+5+6", "3x4-5+6", "3x4+ 5+6", "+3x4+5+6",
        "3.5x4+5+6", "3x4+5+6 ", "99999999999x4+5+6", "101%", "3x4%%", "%", "1.5", "3x",
        "3x4+9999999999+0"}) {
    EXPECT_EQ(objection_to_value(crop_stage_kind(), value),
              "--crop " + value +
                  ": write WIDTHxHEIGHT+X+Y or WIDTHxHEIGHT in whole pixels or percent, such as "
                  "640x480+10+20 or 50%");
  }
  EXPECT_EQ(objection_to_value(crop_stage_kind(), "0x4+5+6"),
            "--crop 0x4+5+6: WIDTH and HEIGHT must be above 0");
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

TEST(Crop, LiesWhereGravitySays) {
  EXPECT_EQ(meaning("40x30"), "40x30+30+15") << "the middle";
  EXPECT_EQ(meaning("40x30+1+2"), "40x30+1+2") << "from the top left corner";
  EXPECT_EQ(meaning("40x30", "northwest"), "40x30+0+0");
  EXPECT_EQ(meaning("40x30", "north"), "40x30+30+0");
  EXPECT_EQ(meaning("40x30", "southeast"), "40x30+60+30");
  EXPECT_EQ(meaning("40x30+1+2", "southeast"), "40x30+59+28");
  EXPECT_EQ(meaning("40x30+1+2", "center"), "40x30+31+17");
}

TEST(Crop, TakesPercent) {
  EXPECT_EQ(meaning("50%"), "50x30+25+15");
  EXPECT_EQ(meaning("50%", "northwest"), "50x30+0+0");
  EXPECT_EQ(meaning("100%x50%", "south"), "100x30+0+30");
  EXPECT_EQ(meaning("30x50%+1+1"), "30x30+1+1");
  EXPECT_EQ(meaning("33.3%"), "33x20+33+20");
  EXPECT_EQ(meaning("0.1%"), "1x1+49+29") << "never less than a pixel";
  EXPECT_EQ(make_plan({{100, 60}, {3, 8}}, {crop_stage_kind().make("100%")}).passes.size(), 1U);
}

TEST(Crop, WithGravityRefusesPicturesThatAreTooSmall) {
  for (const std::string value : {"101x1", "1x61", "100x60+1+0", "90x10+20+0"}) {
    try {
      static_cast<void>(crop_stage_kind()
                            .make(value, {{"--gravity", "east"}})
                            ->lower({.shape = {{100, 60}, {3, 8}}}));
      ADD_FAILURE() << value;
    } catch (const UnsuitableSize& error) {
      EXPECT_EQ(error.what(), "--crop " + value + " reaches beyond its 100x60 pixels");
    }
  }
}

}  // namespace
}  // namespace gpufilter
