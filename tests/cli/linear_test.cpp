// --linear on the command line: the picture's own curve, warnings, and uses out of place.
#include <vector>

#include <gtest/gtest.h>

#include "cli/program_fixture.hpp"
#include "support/png_in_memory.hpp"

namespace gpufilter::test {
namespace {

class LinearTest : public ProgramTest {
 protected:
  // Two pixels, black and white, as in.png.
  void save_black_and_white(const Metadata& metadata) const {
    Image image({2, 1}, {1, 8});
    set_sample(image, 0, 0, 0, 0);
    set_sample(image, 1, 0, 0, 255);
    PngSettings settings;
    settings.metadata = metadata;
    const Bytes file = encode_png(image, settings);
    write_file(folder_ / "in.png", std::string(file.begin(), file.end()));
  }

  // The mean of both.
  [[nodiscard]] std::uint32_t mixed(const std::vector<std::string>& stages) const {
    std::vector<std::string> words{folder_ / "in.png", folder_ / "out.png", "--on-exists",
                                   "overwrite"};
    words.insert(words.end(), stages.begin(), stages.end());
    filter_quietly(words);
    return sample_at(read_picture(folder_ / "out.png"), 0, 0, 0);
  }
};

// Half of white's light is 1.055 * 0.5^(1 / 2.4) - 0.055 = 0.7354 by sRGB's curve, 0.5^(1 / 2) =
// 0.7071 by a power of 2.
TEST_F(LinearTest, MixesLightByThePicturesCurve) {
  const std::vector<std::string> plain{"--resize", "1x1", "--kernel", "area"};
  std::vector<std::string> linear = plain;
  linear.insert(linear.begin(), "--linear");
  std::vector<std::string> both = linear;
  both.emplace_back("--encoded");
  save_black_and_white({});
  EXPECT_EQ(mixed(plain), 128U);
  EXPECT_EQ(mixed(both), 188U);
  EXPECT_EQ(mixed(linear), 188U);
  Metadata metadata;
  metadata.gamma = 50000;
  save_black_and_white(metadata);
  EXPECT_EQ(mixed(both), 180U);
}

TEST_F(LinearTest, WarnsAboutACurveThatItCannotUse) {
  Metadata metadata;
  metadata.gamma = 5000;
  save_black_and_white(metadata);
  const ProcessResult result = ended(0, filter({folder_ / "in.png", folder_ / "out.png", "--linear",
                                                "--encoded", "--timing", "off"}));
  EXPECT_EQ(result.err,
            "gpufilter: warning: " + (folder_ / "in.png") +
                ": --linear: the picture's gamma, 20, is out of range; sRGB's curve is used "
                "instead\n");
}

TEST_F(LinearTest, RefusesStagesOutOfPlace) {
  save_black_and_white({});
  const auto refusal = [&](const std::vector<std::string>& stages) {
    std::vector<std::string> words{folder_ / "in.png", folder_ / "out.png"};
    words.insert(words.end(), stages.begin(), stages.end());
    return ended(2, filter(words)).err;
  };
  EXPECT_EQ(refusal({"--encoded"}),
            "gpufilter: --encoded: there is no --linear before it to end\n");
  EXPECT_EQ(refusal({"--linear", "--invert", "--linear"}),
            "gpufilter: --linear: the stages here already work in linear light; put --encoded "
            "before it\n");
}

}  // namespace
}  // namespace gpufilter::test
