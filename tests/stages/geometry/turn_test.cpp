// Turning stages: what they do to pixels, and how neighbours of them become one.

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/turn_rows.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/instruction_sets.hpp"
#include "support/naive_turn.hpp"
#include "support/objection.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::objection_to_value;
using test::same_pixels;

constexpr std::array turn_sizes{ImageSize{67, 37}, ImageSize{1, 50},  ImageSize{50, 1},
                                ImageSize{1, 1},   ImageSize{16, 16}, ImageSize{33, 100}};

TEST(TurnRows, MovesEveryPixel) {
  test::with_each_instruction_set([] {
    for (const PixelFormat& format : test::all_formats()) {
      for (const ImageSize size : turn_sizes) {
        const Image image = test::random_image(size, format, 1);
        for (int orientation = 1; orientation <= 8; ++orientation) {
          const Turn turn = turn_for_orientation(orientation);
          Image found = test::poisoned_image(turn.size_of(size), format);
          turn_rows(image.rows(), turn, found.rows());
          ASSERT_TRUE(same_pixels(found, test::naive_turn(image, turn)))
              << orientation << ", " << size.width << "x" << size.height;
        }
      }
    }
  });
}

// Also between pixels that lie side by side without gaps.
TEST(TurnRows, WritesNothingBesideItsPixels) {
  const PixelFormat format{3, 8};
  const Image image = test::random_image({21, 18}, format, 2);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Turn turn = turn_for_orientation(orientation);
    const ImageSize size = turn.size_of(image.size());
    const std::size_t pitch = static_cast<std::size_t>(size.width) * 3;
    std::vector<std::uint8_t> bytes(pitch * static_cast<std::size_t>(size.height) + 8, 0xA5);
    turn_rows(image.rows(), turn, {bytes.data(), pitch, {0, size.height}, size.width, format});
    const Image expected = test::naive_turn(image, turn);
    EXPECT_TRUE(same_pixels(ConstRows{bytes.data(), pitch, {0, size.height}, size.width, format},
                            expected.rows()))
        << orientation;
    EXPECT_EQ(bytes[bytes.size() - 8], 0xA5) << orientation;
  }
}

TEST(Flop, MirrorsRows) {
  for (const PixelFormat& format : {PixelFormat{1, 8}, PixelFormat{3, 8}, PixelFormat{4, 16}}) {
    const Image image = test::random_image({67, 37}, format, 3);
    const Image expected = test::naive_turn(image, left_right);
    for (const int rows : {1, 16, 1000}) {
      EXPECT_TRUE(same_pixels(
          test::filter_on_host(image, {test::stage_of("--flop")}, {.band_rows = rows}), expected));
    }
  }
}

TEST(Flop, TwoCopyThePicture) {
  const Image image = test::random_image({19, 7}, {2, 16}, 4);
  const StageChain chain{test::stage_of("--flop"), test::stage_of("--flop")};
  EXPECT_EQ(make_plan({image.size(), image.format()}, chain).passes.size(), 1U);
  EXPECT_TRUE(same_pixels(test::filter_on_host(image, chain, {}), image));
}

TEST(TurnStages, SayHowTheyTurnThePicture) {
  EXPECT_EQ(test::stage_of("--flip")->keeps_source(), upside_down);
  EXPECT_EQ(test::stage_of("--rotate 90")->keeps_source(), quarter_clockwise);
  EXPECT_EQ(test::stage_of("--rotate 180")->keeps_source(), half_a_turn);
  EXPECT_EQ(test::stage_of("--rotate 270")->keeps_source(), quarter_counterclockwise);
  EXPECT_FALSE(test::stage_of("--flop")->keeps_source()) << "it works row by row";
  EXPECT_FALSE(make_blur({})->keeps_source());
  EXPECT_EQ(test::stage_of("--rotate 90")->output_size({30, 20}), (ImageSize{20, 30}));
  EXPECT_EQ(test::stage_of("--rotate 180")->output_size({30, 20}), (ImageSize{30, 20}));
}

TEST(TurnStages, NeighboursBecomeOne) {
  const auto both = test::stage_of("--rotate 90")->merged_with(*test::stage_of("--flip"));
  ASSERT_TRUE(both);
  EXPECT_EQ(both->keeps_source(), quarter_clockwise.then(upside_down));
  EXPECT_EQ(both->name(), "rotate + flip");
  EXPECT_FALSE(test::stage_of("--flip")->merged_with(*test::stage_of("--flip"))->keeps_source());
  EXPECT_FALSE(test::stage_of("--flip")->merged_with(*make_blur({})));
}

TEST(AutoOrient, DependsOnThePicture) {
  const auto stage = test::stage_of("--auto-orient");
  EXPECT_FALSE(stage->keeps_source());
  EXPECT_EQ(stage->for_orientation(6)->keeps_source(), quarter_clockwise);
  EXPECT_EQ(stage->for_orientation(6)->label(), "orientation 6");
  EXPECT_FALSE(stage->for_orientation(2)->keeps_source()) << "as --flop";
  EXPECT_TRUE(stage->for_orientation(1)->changes_nothing({{3, 4}, {3, 8}}));
  EXPECT_EQ(test::stage_of("--rotate 90")->for_orientation(6), nullptr);
}

TEST(Rotate, TakesMultiplesOfNinety) {
  const std::vector<std::pair<std::string, std::string>> angles{
      {"270", "270"}, {"-90", "270"}, {"+90", "90"}, {"450", "90"},   {"-450", "270"},
      {"0", "0"},     {"360", "0"},   {"-360", "0"}, {"-180", "180"}, {"90.0", "90"}};
  for (const auto& [value, same] : angles) {
    EXPECT_EQ(rotate_stage_kind().make(value)->key(), rotate_stage_kind().make(same)->key())
        << value;
    EXPECT_EQ(rotate_stage_kind().make(value)->label(), same);
  }
  EXPECT_TRUE(rotate_stage_kind().make("720")->changes_nothing({{3, 4}, {3, 8}}));
}

TEST(Rotate, RefusesOtherAngles) {
  for (const std::string value : {"45", "-45", "90.5", "1e300", "right"})
    EXPECT_EQ(objection_to_value(rotate_stage_kind(), value),
              "--rotate " + value + ": choose 90, 180, 270 or 0");
}

}  // namespace
}  // namespace gpufilter
