// Chains with stages that turn the picture: the file is read once, and what lies between two walks
// is kept in memory or in a temporary file.
#include <gtest/gtest.h>

#include "codec/png/codec.hpp"
#include "pipeline/run/run.hpp"
#include "stages/geometry/crop.hpp"
#include "stages/geometry/pad.hpp"
#include "stages/geometry/trim.hpp"
#include "stages/point/levels.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/naive_stages.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

class RunTurn : public ::testing::Test {
 protected:
  void SetUp() override { test::write_png(image_, in_); }

  [[nodiscard]] RunReport filter(const StageChain& chain, const RunOptions& options = {}) {
    Engine engine({{std::nullopt, "requested"}}, {.band_rows = band_rows_});
    return filter_picture(in_, out_, &png_codec(), chain, engine, options);
  }
  [[nodiscard]] Image result() const { return test::read_picture(out_); }

  const test::TemporaryFolder folder_;
  const std::string in_ = folder_ / "in.png";
  const std::string out_ = folder_ / "out.png";
  const Image image_ = test::random_image({70, 50}, {4, 8}, 1);
  int band_rows_ = 20;
};

Image after_levels(const Image& image) {
  return test::by_statistics(image, make_auto_levels(0));
}

TEST_F(RunTurn, GivesTheSamePixelsWhateverTheBandsAndTheMemory) {
  const auto crop = make_crop({{41, 60}, {3, 5}});
  const StageChain chain{make_blur({}),       test::stage_of("--rotate 90"), crop,
                         make_auto_levels(0), test::stage_of("--flip"),      make_blur({})};
  Image expected = test::filter_on_host(image_, {make_blur({})}, {});
  expected = test::naive_turn(expected, quarter_clockwise);
  expected = after_levels(test::filter_on_host(expected, {crop}, {}));
  expected = test::naive_turn(expected, upside_down);
  expected = test::filter_on_host(expected, {make_blur({})}, {});
  for (const int rows : {1, 7, 1000}) {
    for (const std::uint64_t memory : {std::uint64_t{1}, std::uint64_t{20'000}, UINT64_MAX / 2}) {
      band_rows_ = rows;
      RunOptions options;
      options.max_memory = memory;
      const RunReport report = filter(chain, options);
      EXPECT_TRUE(test::same_pixels(result(), expected)) << rows << ", " << memory;
      EXPECT_EQ(report.output_size, (ImageSize{41, 60}));
      EXPECT_EQ(report.result_passes, 6U);
    }
  }
}

std::vector<std::string> account(const RunReport& report) {
  std::vector<std::string> lines;
  for (const PassReport& pass : report.passes)
    lines.push_back(std::to_string(pass.walk) + " " + pass.stage + ": " + pass.reason);
  return lines;
}

TEST_F(RunTurn, SaysWhereThePictureWasKept) {
  const StageChain chain{make_blur({}), test::stage_of("--rotate 90"), make_blur({})};
  EXPECT_EQ(account(filter(chain)),
            (std::vector<std::string>{"0 blur: the processor",
                                      "0 rotate: the processor, whole picture in memory",
                                      "1 blur: the processor"}));
  RunOptions options;
  options.max_memory = 18'666;  // three quarters of it are less than the 14000 bytes of the picture
  EXPECT_EQ(account(filter(chain, options))[1],
            "0 rotate: the processor, whole picture in a temporary file");
  options.max_memory = 18'668;
  EXPECT_EQ(account(filter(chain, options))[1], "0 rotate: the processor, whole picture in memory");
}

TEST_F(RunTurn, DecodesOnceAndReadsBack) {
  const RunReport report = filter({test::stage_of("--rotate 180")});
  std::uint64_t decoded = 0;
  std::uint64_t read_back = 0;
  for (const Span& span : report.spans) {
    if (span.activity == Activity::decode) decoded += span.bytes;
    if (span.activity == Activity::read_back) read_back += span.bytes;
    EXPECT_EQ(span.walk, span.activity == Activity::read_back || span.activity == Activity::encode);
  }
  EXPECT_EQ(decoded, image_.bytes());
  EXPECT_EQ(read_back, image_.bytes());
  EXPECT_EQ(report.engine.device, "processor");
  EXPECT_EQ(report.engine.reason, "only it turns and trims pictures");
  EXPECT_TRUE(test::same_pixels(result(), test::naive_turn(image_, half_a_turn)));
}

TEST_F(RunTurn, NeighboursTurnThePictureOnce) {
  EXPECT_EQ(account(filter({test::stage_of("--rotate 90"), test::stage_of("--flop"),
                            test::stage_of("--rotate 90")})),
            (std::vector<std::string>{"0 rotate + flop + rotate: the processor"}))
      << "together they are --flop, which needs no second walk";
  const RunReport nothing = filter({test::stage_of("--auto-orient")});
  EXPECT_TRUE(nothing.passes.empty());
  EXPECT_EQ(nothing.engine.reason, "nothing to change");
  EXPECT_TRUE(nothing.copied);
  EXPECT_TRUE(test::same_pixels(result(), image_));
}

// What is cut off is known only when the stages before it have seen all rows.
TEST_F(RunTurn, TrimCutsOffWhatAnEarlierStageHasPutAround) {
  const StageChain chain{make_pad({.sides = {3, 30, 20, 1}, .color = std::nullopt}), make_trim(0),
                         make_blur({})};
  const Image expected = test::filter_on_host(image_, {make_blur({})}, {});
  for (const int rows : {1, 7, 1000}) {
    for (const std::uint64_t memory : {std::uint64_t{1}, UINT64_MAX / 2}) {
      band_rows_ = rows;
      RunOptions options;
      options.max_memory = memory;
      const RunReport report = filter(chain, options);
      EXPECT_TRUE(test::same_pixels(result(), expected)) << rows << ", " << memory;
      EXPECT_EQ(report.output_size, image_.size());
    }
  }
  EXPECT_EQ(account(filter(chain)),
            (std::vector<std::string>{"0 pad: the processor",
                                      "0 trim: the processor, whole picture in memory",
                                      "1 crop: the processor", "1 blur: the processor"}));
}

TEST_F(RunTurn, TellsItsProgressOverAllWalks) {
  std::vector<std::int64_t> reported;
  RunOptions options;
  options.on_progress = [&](std::int64_t done, std::int64_t all) {
    EXPECT_EQ(all, 100);
    reported.push_back(done);
  };
  static_cast<void>(filter({test::stage_of("--flip")}, options));
  EXPECT_EQ(reported, (std::vector<std::int64_t>{20, 40, 50, 70, 90, 100}));
}

TEST_F(RunTurn, WorksOnDevices) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const StageChain chain{make_blur({}), test::stage_of("--rotate 270"), make_blur({})};
  Image expected = test::filter_on_host(image_, {make_blur({})}, {});
  expected = test::naive_turn(expected, quarter_counterclockwise);
  expected = test::filter_on_host(expected, {make_blur({})}, {});
  for (const auto& session : test::all_sessions()) {
    Engine engine({{session->device(), "requested"}}, {.band_rows = 7});
    RunOptions options;
    options.verify_blocks = 3;
    const RunReport report = filter_picture(in_, out_, &png_codec(), chain, engine, options);
    EXPECT_TRUE(test::same_pixels(result(), expected));
    EXPECT_EQ(report.verified_blocks, 6) << "three before and three after it is turned";
    EXPECT_EQ(report.engine.device, session->device().name);
    EXPECT_EQ(report.passes[1].reason, "the processor, whole picture in memory");
  }
}

}  // namespace
}  // namespace gpufilter
