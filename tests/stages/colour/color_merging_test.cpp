// Neighbouring colour matrices become one pass exactly if that changes no bit.
#include <random>

#include <gtest/gtest.h>

#include "stages/colour/color.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

const MatrixRows identity{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
const MatrixRows swap_rb{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
const MatrixRows red_only{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
const MatrixRows alpha_to_red{{0, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 0, 0}};
const MatrixRows sepia{{.393, .769, .189}, {.349, .686, .168}, {.272, .534, .131}};
const MatrixRows gains{{1.3, 0, 0, .1}, {0, .9, 0, -.05}, {0, 0, .7, .01}};
const MatrixRows bias_only{{1, 0, 0, .1}, {0, 1, 0, 0}, {0, 0, 1, 0}};
const MatrixRows half{{.5, 0, 0}, {0, .5, 0}, {0, 0, .5}};
const MatrixRows red_and_blue{{.4, 0, .7}, {0, 1, 0}, {.1, 0, .3}};

std::shared_ptr<const Stage> color(const MatrixRows& rows, const std::string& label = "m") {
  return make_color(to_matrix(rows), label);
}

std::size_t passes(const StageChain& chain, PixelFormat format = {3, 8}) {
  return make_plan({{8, 8}, format}, chain).passes.size();
}

TEST(ColorMerging, TakesPickedChannelsIntoTheirNeighbour) {
  EXPECT_EQ(passes({color(sepia), color(swap_rb)}), 1U);
  EXPECT_EQ(passes({color(sepia), color(red_only)}), 1U);
  EXPECT_EQ(passes({color(swap_rb), color(gains)}), 1U);
  EXPECT_EQ(passes({color(red_only), color(gains)}), 1U);
  EXPECT_EQ(passes({color(identity), color(sepia)}), 1U);
  EXPECT_EQ(passes({color(swap_rb), color(swap_rb), color(sepia), color(swap_rb)}), 1U);
  EXPECT_EQ(passes({color(sepia), color(alpha_to_red)}, {4, 8}), 1U);
}

TEST(ColorMerging, LeavesAloneWhatWouldRoundOrAddDifferently) {
  EXPECT_EQ(passes({color(sepia), color(gains)}), 2U);     // rounds and saturates in between
  EXPECT_EQ(passes({color(half), color(half)}), 2U);       // rounds in between
  EXPECT_EQ(passes({color(swap_rb), color(sepia)}), 2U);   // a different order of additions
  EXPECT_EQ(passes({color(red_only), color(sepia)}), 2U);  // three weights of one channel
  EXPECT_EQ(passes({color(sepia), color(bias_only)}), 2U);
  EXPECT_EQ(passes({color(sepia), make_blur({}), color(swap_rb)}), 3U);
}

// On RGB the second creates an alpha that the merged matrix would not.
TEST(ColorMerging, DoesNotChangeTheFormat) {
  const MatrixRows from_alpha{{0, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  const StageChain chain{color(from_alpha), color(alpha_to_red)};
  EXPECT_EQ(passes(chain, {3, 8}), 2U);
  EXPECT_EQ(passes(chain, {4, 8}), 1U);
}

TEST(ColorMerging, LeavesOutWhatChangesNothing) {
  EXPECT_EQ(passes({color(identity), make_blur({})}), 1U);
  EXPECT_EQ(passes({make_blur({}), color(swap_rb), color(swap_rb), make_blur({})}), 2U);
  EXPECT_EQ(passes({make_blur({}), color(identity)}, {1, 8}), 2U);  // makes RGB of grey
  // One pass stays: it copies.
  for (const StageChain& chain :
       {StageChain{color(identity)}, StageChain{color(swap_rb), color(swap_rb)},
        StageChain{color(identity), color(identity)}}) {
    EXPECT_EQ(passes(chain), 1U);
    const Image image = test::random_image({9, 5}, {3, 8}, 1);
    EXPECT_TRUE(same_pixels(test::filter_on_host(image, chain, {}), image));
  }
}

TEST(ColorMerging, NamesBothInTheTiming) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const Plan plan = make_plan({{8, 8}, {3, 8}}, {color(sepia, "sepia"), color(swap_rb, "swap-rb")});
  Session& session = *test::all_sessions().front();
  const auto pass = plan.passes.front().step->prepare(session, plan.input);
  EXPECT_EQ(pass->description().variant, "sepia+swap-rb");
}

// ---- Over random matrices and pictures ----

MatrixRows random_picks(std::mt19937_64& generator) {
  MatrixRows rows(4, std::vector<double>(4, 0));
  for (auto& row : rows)
    row[generator() % 4] = 1;
  return rows;
}

// Many weights are 0, so that often only one per row is left.
MatrixRows random_sparse(std::mt19937_64& generator) {
  const bool biased = generator() % 2 == 0;
  MatrixRows rows(4, std::vector<double>(biased ? 5 : 4, 0));
  for (auto& row : rows) {
    for (double& number : row) {
      if (generator() % 3 == 0) number = static_cast<double>(generator() % 4001) / 1000 - 2;
    }
  }
  return rows;
}

TEST(ColorMerging, ChangesNoBit) {
  std::mt19937_64 generator(31);
  int merged_pairs = 0;
  for (int round = 0; round < 1500; ++round) {
    const int channels = 1 + static_cast<int>(generator() % 4);
    const int depth = generator() % 2 == 0 ? 8 : 16;
    const Image image = test::random_image({16, 4}, {channels, depth}, generator());
    const auto pick = color(random_picks(generator));
    const auto other =
        color(generator() % 4 == 0 ? random_picks(generator) : random_sparse(generator));
    const StageChain chain = round % 2 == 0 ? StageChain{pick, other} : StageChain{other, pick};
    const Plan plan = make_plan({image.size(), image.format()}, chain);
    merged_pairs += plan.passes.size() == 1 ? 1 : 0;
    ASSERT_TRUE(
        same_pixels(test::filter_on_host(image, chain, {}), test::stage_by_stage(image, chain)))
        << "round " << round;
  }
  EXPECT_GT(merged_pairs, 500);
}

}  // namespace
}  // namespace gpufilter
