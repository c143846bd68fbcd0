// --clahe gives the same bits everywhere; tests/cli/other_programs_test.cpp compares it with
// OpenCV.

#include "support/instruction_sets.hpp"
#include "support/single_pixels.hpp"

namespace gpufilter::test {
namespace {

LoweredChain chain_for(const Image& image, const std::string& value) {
  LoweredChain chain =
      lower_chain({stage_of("--clahe " + value)}, {.shape = {image.size(), image.format()}});
  const PictureInMemory kept(image.rows());
  EXPECT_TRUE(meet_demand(chain, 0, kept));
  return chain;
}

TEST(Clahe, GivesTheSameBitsEverywhere) {
  for (const PixelFormat& format : all_formats()) {
    for (const ImageSize size : {ImageSize{67, 37}, {64, 48}, {3, 200}}) {
      const Image image = random_image(size, format, 1);
      const LoweredChain chain = chain_for(image, format.channels % 2 == 0 ? "2" : "7.5,3");
      const Image expected = filter_on_host(image, chain, {});
      with_each_instruction_set([&] {
        for (const int rows : {1, 7, 1000})
          ASSERT_TRUE(same_pixels(filter_on_host(image, chain, {.band_rows = rows}), expected));
      });
      for (Session* session : kernel_sessions(format)) {
        for (const int rows : {7, 1000})
          ASSERT_TRUE(
              same_pixels(filter_on_device(*session, image, chain, {.band_rows = rows}), expected));
      }
    }
  }
}

TEST(Clahe, KeepsAlphaAndGreys) {
  const Image image = random_image({61, 31}, {4, 8}, 2);
  const Image result = filter_on_host(image, chain_for(image, "3"), {});
  for (const auto [x, y] : each_pixel(image))
    ASSERT_EQ(sample_at(result, x, y, 3), sample_at(image, x, y, 3));
  const Image grey = filter_on_host(image, stages_of("--gray"), {});
  const Image three = filter_on_host(grey, stages_of("--color \"1 0 0; 0 1 0; 0 0 1\""), {});
  const Image narrow = filter_on_host(grey, chain_for(grey, "3"), {});
  const Image wide = filter_on_host(three, chain_for(three, "3"), {});
  for (const auto [x, y, c] : each_sample(image.size(), 3))
    ASSERT_EQ(sample_at(wide, x, y, c), sample_at(narrow, x, y, 0));
}

TEST(ClaheOption, RefusesOtherNumbers) {
  expect_values(clahe_stage_kind(), {"2", "0.5", "40,1", "3,16"},
                {"", "0", "-1", "1001", "x", "2,0", "2,17", "2,2.5", "2,", "2,8,8", "auto"});
}

}  // namespace
}  // namespace gpufilter::test
