#include "stage/lowering.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "image/image.hpp"
#include "pipeline/run/memory_rows.hpp"
#include "stages/resize/resize.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

const PictureShape shape{{640, 480}, {3, 8}};

TEST(LowerChain, LeavesOutWhatHasNothingToDoAndJoinsTurnsBetweenPlaces) {
  const StageChain chain{test::stage_of("--auto-orient"), test::stage_of("--rotate 90"),
                         test::stage_of("--flip"), test::stage_of("--blur auto")};
  const auto names = [&](std::vector<std::size_t>& places) {
    std::vector<std::string> names;
    for (const LoweredStage& stage : lower_chain(chain, {.shape = shape}, places))
      names.push_back(stage.title.name);
    return names;
  };
  std::vector<std::size_t> places{1, 3, 4};
  EXPECT_EQ(names(places), (std::vector<std::string>{"rotate + flip", "blur"}));
  EXPECT_EQ(places, (std::vector<std::size_t>{0, 1, 2}));
  places = {2};
  EXPECT_EQ(names(places), (std::vector<std::string>{"rotate", "flip", "blur"}));
  EXPECT_EQ(places, (std::vector<std::size_t>{1}));
}

TEST(LowerChain, TellsEachStageWhatThoseBeforeItLeave) {
  const LoweredChain chain = lower_chain(
      {test::stage_of("--rotate 90"), test::stage_of("--gray"), test::stage_of("--resize 50%")},
      {.shape = shape});
  EXPECT_EQ(chain.at(1).context.shape, (PictureShape{{480, 640}, {3, 8}}));
  EXPECT_EQ(chain.at(2).context.shape, (PictureShape{{480, 640}, {1, 8}}));
  EXPECT_EQ(output_of(chain, shape), (PictureShape{{240, 320}, {1, 8}}));
}

TEST(LowerChain, StagesAfterATrimAreLoweredForItsSize) {
  Image image = test::random_image({64, 48}, {3, 8}, 1);
  std::memset(image.rows().data, 0, image.bytes());
  for (const auto& [x, y] : {std::pair{10, 6}, {29, 15}})
    test::set_sample(image, x, y, 0, 200);
  const PictureShape whole{image.size(), image.format()};
  LoweredChain chain = lower_chain(
      {test::stage_of("--trim"), test::stage_of("--resize 50%"), test::stage_of("--blur auto")},
      {.shape = whole});
  EXPECT_EQ(output_of(chain, whole).size, (ImageSize{32, 24})) << "as far as is known";
  EXPECT_TRUE(meet_demand(chain, 0, PictureInMemory(std::as_const(image).rows())));
  EXPECT_EQ(output_of(chain, whole).size, (ImageSize{10, 5}));
  EXPECT_EQ(chain.at(2).context.shape.size, (ImageSize{10, 5}));
}

TEST(LowerChain, ASmallerSourceKeepsTheSizeOfTheResult) {
  const StageChain stages{test::stage_of("--rotate 90"),
                          make_resize({.percent = 12.5, .fast_shrink = true})};
  LoweredChain chain = lower_chain(stages, {.shape = shape});
  PictureShape turned = shape;
  ASSERT_EQ(count_turns(chain, turned), 1U);
  EXPECT_EQ(chain.at(1).decoding_divisor, 4) << "half of the reduction is left to the kernel";
  const PictureShape smaller{{160, 120}, {3, 8}};
  lower_for_smaller(chain, shape, smaller, 4);
  EXPECT_EQ(output_of(chain, smaller).size, (ImageSize{60, 80}));
  EXPECT_EQ(chain.at(1).context.smaller.value().whole, (ImageSize{480, 640}));
}

}  // namespace
}  // namespace gpufilter
