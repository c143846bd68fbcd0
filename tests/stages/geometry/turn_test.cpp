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
#include "support/naive_stages.hpp"
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
  const auto demanded = [](const std::string& words) {
    const auto demand = test::stage_of(words)->lower({}).demand;
    EXPECT_EQ(test::stage_of(words)->traits().keeps_picture, demand.has_value());
    return demand ? demand->whole : std::nullopt;
  };
  EXPECT_EQ(demanded("--flip"), upside_down);
  EXPECT_EQ(demanded("--rotate 90"), quarter_clockwise);
  EXPECT_EQ(demanded("--rotate 180"), half_a_turn);
  EXPECT_EQ(demanded("--rotate 270"), quarter_counterclockwise);
  EXPECT_FALSE(demanded("--flop")) << "it works row by row";
  EXPECT_FALSE(demanded("--blur auto"));
  const auto size_after = [](const std::string& words) {
    return test::result_of(test::stage_of(words), {{30, 20}, {3, 8}}).size;
  };
  EXPECT_EQ(size_after("--rotate 90"), (ImageSize{20, 30}));
  EXPECT_EQ(size_after("--rotate 180"), (ImageSize{30, 20}));
}

TEST(TurnStages, NeighboursBecomeOne) {
  const auto lowered = [](const std::string& first, const std::string& second) {
    return test::lowered({test::stage_of(first), test::stage_of(second)}, {3, 8});
  };
  const LoweredChain both = lowered("--rotate 90", "--flip");
  ASSERT_EQ(both.size(), 1U);
  EXPECT_EQ(both[0].demand.value().whole, quarter_clockwise.then(upside_down));
  EXPECT_EQ(both[0].title.name, "rotate + flip");
  EXPECT_EQ(both[0].placement.value().size, (ImageSize{640, 480}));
  const LoweredChain nothing = lowered("--flip", "--flip");
  ASSERT_EQ(nothing.size(), 1U);
  EXPECT_FALSE(nothing[0].demand);
  EXPECT_EQ(lowered("--flip", "--blur auto").size(), 2U);
}

TEST(AutoOrient, DependsOnThePicture) {
  const StageChain chain{test::stage_of("--auto-orient"), test::stage_of("--auto-orient")};
  const auto lowered = [&](int orientation) {
    return lower_chain(chain, {.shape = {{3, 4}, {3, 8}}, .orientation = orientation});
  };
  const LoweredChain turned = lowered(6);
  ASSERT_EQ(turned.size(), 1U) << "it is upright then";
  EXPECT_EQ(turned[0].demand.value().whole, quarter_clockwise);
  EXPECT_EQ(turned[0].title.label, "orientation 6");
  ASSERT_EQ(lowered(2).size(), 1U);
  EXPECT_FALSE(lowered(2)[0].demand) << "as --flop";
  EXPECT_TRUE(lowered(1).empty());
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
  EXPECT_TRUE(test::changes_nothing(rotate_stage_kind().make("720"), {{3, 4}, {3, 8}}));
}

TEST(Rotate, RefusesOtherAngles) {
  for (const std::string value : {"45", "-45", "90.5", "1e300", "right"})
    EXPECT_EQ(objection_to_value(rotate_stage_kind(), value),
              "--rotate " + value + ": choose 90, 180, 270 or 0");
}

}  // namespace
}  // namespace gpufilter
