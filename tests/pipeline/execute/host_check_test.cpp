// The reference for every result, and the blocks of --verify.
#include "pipeline/execute/host_check.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "host/instruction_set.hpp"
#include "pipeline/run/memory_picture.hpp"
#include "stages/window/blur.hpp"
#include "support/naive_stages.hpp"
#include "support/pictures.hpp"

namespace gpufilter {
namespace {

TEST(HostCheck, TheBaselineIsTheThreadsAlone) {
  const InstructionSet before = instruction_set();
  {
    const BaselineOnThisThread baseline;
    EXPECT_EQ(instruction_set(), InstructionSet::baseline);
    const BaselineOnThisThread nested;
    EXPECT_EQ(instruction_set(), InstructionSet::baseline);
  }
  EXPECT_EQ(instruction_set(), before);
}

TEST(HostCheck, GivesTheChainsResult) {
  for (const Border border : {Border::replicate, Border::wrap}) {
    const Image image = test::random_image({19, 23}, {4, 16}, 1);
    const auto blur = make_blur({.border = border});
    const Image expected = test::naive_blur(test::naive_blur(image, border, AlphaMode::weighted),
                                            border, AlphaMode::weighted);
    EXPECT_TRUE(test::same_pixels(lab::filter_by_baseline(image, {blur, blur}), expected));
  }
}

TEST(HostCheck, FindsTheFirstSampleThatDiffers) {
  for (const int depth : {8, 16}) {
    const Image a = test::random_image({13, 9}, {4, depth}, 2);
    Image b = test::copy_of(a);
    EXPECT_FALSE(first_difference(a.rows(), b.rows()));
    const std::uint32_t value = test::sample_at(a, 7, 5, 2);
    test::set_sample(b, 1, 6, 0, test::sample_at(a, 1, 6, 0) ^ 1U);
    test::set_sample(b, 7, 5, 2, value ^ 1U);
    test::set_sample(b, 8, 5, 1, test::sample_at(a, 8, 5, 1) ^ 1U);
    const DifferingSample expected{7, 5, 2, value, value ^ 1U};
    const auto found = first_difference(a.rows(), b.rows());
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, expected);
    EXPECT_EQ(to_string(*found, a.format()),
              "row 5, column 7, blue: " + std::to_string(value ^ 1U) + " instead of " +
                  std::to_string(value));
  }
}

class Blocks : public ::testing::Test {
 protected:
  Blocks()
      : image_(test::random_image({31, 45}, {3, 8}, 3)),
        result_(lab::filter_by_baseline(image_, {blur_})),
        plan_(make_plan({image_.size(), image_.format()}, {blur_}, {.band_rows = 20})) {}

  int check(BlockCheck& check) {
    for (const RowRange& band : plan_.bands()) {
      check.check(std::as_const(image_).rows().part(plan_.windows(band).front()),
                  std::as_const(result_).rows().part(band), "a.png", "a device");
    }
    return check.checked();
  }

  std::shared_ptr<const Stage> blur_ = make_blur({});
  Image image_;
  Image result_;
  Plan plan_;
};

TEST_F(Blocks, AsManyAsAskedForAreChecked) {
  for (const auto& [asked, expected] : {std::pair{1, 1}, {5, 5}, {7, 7}, {8, 7}, {1000, 7}}) {
    BlockCheck blocks(plan_, asked, 4);  // bands of 20, 20 and 5 rows: 3 + 3 + 1 blocks
    EXPECT_EQ(check(blocks), expected);
  }
}

TEST_F(Blocks, EveryRowLiesInSomeBlock) {
  for (int y = 0; y < 45; ++y) {
    const std::uint32_t right = test::sample_at(result_, 30, y, 2);
    test::set_sample(result_, 30, y, 2, right ^ 1U);
    BlockCheck blocks(plan_, 1000, 5);
    try {
      check(blocks);
      ADD_FAILURE() << "row " << y << " is not checked";
    } catch (const PictureError& error) {
      EXPECT_EQ(std::string(error.what()),
                "a.png: not verified: a device differs from the processor's baseline: row " +
                    std::to_string(y) + ", column 30, blue: " + std::to_string(right ^ 1U) +
                    " instead of " + std::to_string(right));
    }
    test::set_sample(result_, 30, y, 2, right);
  }
}

TEST_F(Blocks, WhichAreChosenDependsOnTheSeed) {
  test::set_sample(result_, 0, 44, 0, test::sample_at(result_, 0, 44, 0) ^ 1U);  // the last block
  int found = 0;
  for (unsigned seed = 0; seed < 70; ++seed) {
    BlockCheck blocks(plan_, 1, seed);
    try {
      check(blocks);
    } catch (const PictureError&) {
      ++found;
    }
  }
  EXPECT_GT(found, 1);
  EXPECT_LT(found, 30);
}

}  // namespace
}  // namespace gpufilter
