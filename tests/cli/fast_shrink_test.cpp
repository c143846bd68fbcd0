// --fast-shrink as users run it.
#include <cstdlib>

#include "cli/filter_fixture.hpp"
#include "codec/byte_sink.hpp"
#include "codec/codec_table.hpp"
#include "support/jpeg.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

class FastShrink : public FilterTest {
 protected:
  // Smooth, so that ways to shrink it differ little.
  void SetUp() override {
    Raster raster{1003, 701, 3, {}};
    for (const auto [x, y] : each_pixel({raster.width, raster.height})) {
      raster.samples.push_back(static_cast<std::uint8_t>(x / 4));
      raster.samples.push_back(static_cast<std::uint8_t>(y / 3));
      raster.samples.push_back(static_cast<std::uint8_t>((x + y) / 7));
    }
    const Bytes file = encode_with_libjpeg(raster);
    write_file(in_, std::string(file.begin(), file.end()));
  }

  [[nodiscard]] Image result(std::vector<std::string> words, bool fast) const {
    words.insert(words.begin(), {in_, out_, "--device", "cpu", "--on-exists", "overwrite"});
    if (fast) words.emplace_back("--fast-shrink");
    static_cast<void>(filter_quietly(words));
    return read_picture(out_);
  }

  const std::string in_ = folder_ / "in.jpg";
  const std::string out_ = folder_ / "out.png";
};

TEST_F(FastShrink, GivesTheSameSizeAndNearlyTheSamePixels) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--resize", "100x"},
                                                {"--resize", "12.5%"},
                                                {"--resize", "60x60"},
                                                {"--resize", "60x60", "--fit", "cover"},
                                                {"--resize", "60x60", "--fit", "contain"},
                                                {"--rotate", "90", "--resize", "x110"},
                                                {"--flop", "--resize", "70x33", "--fit", "fill"}}) {
    SCOPED_TRACE(::testing::PrintToString(words));
    const Image slow = result(words, false);
    const Image fast = result(words, true);
    ASSERT_EQ(fast.size(), slow.size());
    EXPECT_FALSE(same_pixels(fast, slow)) << "nothing was decoded smaller";
    int largest = 0;
    for (const auto [x, y, c] : each_sample(slow.size(), 3)) {
      largest = std::max(largest, std::abs(static_cast<int>(sample_at(fast, x, y, c)) -
                                           static_cast<int>(sample_at(slow, x, y, c))));
    }
    // A pixel of the source is a third of a level; one of the result that lay elsewhere by half of
    // its width would differ more.
    EXPECT_LE(largest, 2);
  }
}

TEST_F(FastShrink, SaysByHowMuch) {
  const auto divisor = [this](const std::vector<std::string>& words) {
    std::vector<std::string> all{in_, folder_ / "out.jpg", "--json", "-q", "--device", "cpu"};
    all.insert(all.end(), words.begin(), words.end());
    const Json json = Json::parse(filter(all).out);
    return json.value("decoding_divisor", 1);
  };
  EXPECT_EQ(divisor({"--resize", "251x", "--fast-shrink"}), 1);
  EXPECT_EQ(divisor({"--resize", "250x", "--fast-shrink"}), 2);
  EXPECT_EQ(divisor({"--fast-shrink", "--resize", "125x"}), 4) << "as a default of all stages";
  EXPECT_EQ(divisor({"--resize", "62x", "--fast-shrink", "--dry-run"}), 8);
  EXPECT_EQ(divisor({"--resize", "10x", "--fast-shrink"}), 8);
  EXPECT_EQ(divisor({"--resize", "62x"}), 1);
  EXPECT_EQ(divisor({"--blur", "auto", "--resize", "62x", "--fast-shrink"}), 1);
  EXPECT_EQ(divisor({"--resize", "62x", "--only", "enlarge", "--fast-shrink"}), 1);
  // An output before it needs all pixels, unless it is not decoded at all.
  EXPECT_EQ(divisor({"--output", folder_ / "all.png", "--resize", "62x", "--fast-shrink"}), 1);
  EXPECT_EQ(divisor({"--output", folder_ / "all.jpg", "--resize", "62x", "--fast-shrink"}), 8);
  const std::string said =
      filter({in_, out_, "--resize", "62x", "--fast-shrink", "--device", "cpu"}).err;
  EXPECT_TRUE(contains(said, ": 1003x701 -> 62x43, decoded at 1/8, RGB, 8-bit; "));
  static_cast<void>(filter_quietly({in_, folder_ / "copy.png"}));
  EXPECT_FALSE(contains(filter({folder_ / "copy.png", out_, "--resize", "62x", "--fast-shrink",
                                "--json", "-q", "--on-exists", "overwrite"})
                            .out,
                        "decoding_divisor"));
}

}  // namespace
}  // namespace gpufilter::test
