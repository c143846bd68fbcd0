// Several outputs of one chain: each holds what the stages before it give, and the file is decoded
// once.

#include "codec/codec_table.hpp"
#include "codec/formats.hpp"
#include "image/exif.hpp"
#include "pipeline/run/run.hpp"
#include "stages/geometry/geometry.hpp"
#include "stages/point/lookup.hpp"
#include "support/filtering.hpp"
#include "support/naive_stages.hpp"

namespace gpufilter::test {
namespace {

class RunOutputs : public ::testing::Test {
 protected:
  void SetUp() override { write_png(image_, in_); }

  // The outputs 0.png, 1.png, ... after these numbers of stages.
  [[nodiscard]] RunOptions with_outputs(const std::vector<std::size_t>& stages) const {
    RunOptions options;
    for (const std::size_t place : stages)
      options.outputs.push_back({path(options.outputs.size()), &png_codec(), false, place});
    return options;
  }
  [[nodiscard]] std::string path(std::size_t index) const {
    return folder_ / (std::to_string(index) + ".png");
  }
  [[nodiscard]] RunReport filter(const StageChain& chain, const RunOptions& options = {}) {
    Engine engine({{std::nullopt, "requested"}}, {.band_rows = band_rows_});
    return filter_picture(in_, {out_, &png_codec()}, chain, engine, options);
  }

  // Filters with several heights of bands and sizes of memory, and compares all outputs.
  void expect_outputs(const StageChain& chain, const std::vector<std::size_t>& stages,
                      const std::vector<Image>& expected) {
    for (const auto& [rows, memory] :
         each_of(std::array{1, 7, 1000}, std::vector<std::uint64_t>{1, UINT64_MAX / 2})) {
      band_rows_ = rows;
      RunOptions options = with_outputs(stages);
      options.max_memory = memory;
      const RunReport report = filter(chain, options);
      ASSERT_EQ(report.others.size(), stages.size());
      for (std::size_t i = 0; i <= stages.size(); ++i) {
        const bool is_last = i == stages.size();
        const OutputReport& output = is_last ? report : report.others[i];
        EXPECT_EQ(output.output, is_last ? out_ : path(i));
        EXPECT_EQ(output.output_size, expected[i].size());
        EXPECT_EQ(output.output_pixel, expected[i].format());
        EXPECT_EQ(output.output_bytes, std::filesystem::file_size(output.output));
        EXPECT_TRUE(same_pixels(read_picture(output.output), expected[i]))
            << "output " << i << ", bands of " << rows << ", memory " << memory;
      }
    }
  }

  const TemporaryFolder folder_;
  const std::string in_ = folder_ / "in.png";
  const std::string out_ = folder_ / "out.png";
  const Image image_ = random_image({70, 50}, {4, 8}, 1);
  int band_rows_ = 20;
};

template <typename... Images>
std::vector<Image> list(Images&&... images) {
  std::vector<Image> all;
  (all.push_back(std::forward<Images>(images)), ...);
  return all;
}

Image through(const Image& image, const StageChain& chain) {
  return filter_on_host(image, chain, {});
}

TEST_F(RunOutputs, HoldWhatTheStagesBeforeThemGive) {
  const StageChain chain{make_blur({}), make_crop({{30, 20}, {25, 27}}), make_blur({}),
                         stage_of("--gray")};
  expect_outputs(chain, {0, 1, 1, 3, 4},
                 list(copy_of(image_), through(image_, {chain[0]}), through(image_, {chain[0]}),
                      through(image_, {chain[0], chain[1], chain[2]}), through(image_, chain),
                      through(image_, chain)));
}

TEST_F(RunOutputs, BordersThatWrapNeedAllRowsOfTheOutputBefore) {
  BlurParameters wrap;
  wrap.border = Border::wrap;
  const StageChain chain{make_crop({{41, 31}, {20, 9}}), make_blur(wrap), make_blur({})};
  expect_outputs(chain, {1, 2},
                 list(through(image_, {chain[0]}), through(image_, {chain[0], chain[1]}),
                      through(image_, chain)));
}

TEST_F(RunOutputs, StandBeforeAndAfterStagesThatKeepThePicture) {
  const StageChain chain{make_blur({}), stage_of("--rotate 90"), make_blur({}), stage_of("--flip")};
  const Image blurred = through(image_, {chain[0]});
  const Image turned = naive_turn(blurred, quarter_clockwise);
  const Image again = through(turned, {make_blur({})});
  const Image last = naive_turn(again, upside_down);
  expect_outputs(chain, {0, 1, 2, 2, 3, 4},
                 list(copy_of(image_), copy_of(blurred), copy_of(turned), copy_of(turned),
                      copy_of(again), copy_of(last), copy_of(last)));
}

// The trimmed area is known only at the end of the walk that writes the first output.
TEST_F(RunOutputs, StandBeforeAndAfterTrim) {
  const StageChain chain{make_pad({.sides = {3, 30, 20, 1}, .color = std::nullopt}), make_trim(0),
                         make_blur({})};
  expect_outputs(
      chain, {1, 2},
      list(through(image_, {chain[0]}), copy_of(image_), through(image_, {make_blur({})})));
}

TEST_F(RunOutputs, StandBeforeAndAfterStatistics) {
  const Image blurred = through(image_, {make_blur({})});
  const auto levels = make_auto_levels(0);
  const Image leveled = by_statistics(blurred, levels);
  expect_outputs({make_blur({}), levels, make_blur({})}, {1, 2},
                 list(copy_of(blurred), copy_of(leveled), through(leveled, {make_blur({})})));
}

// Together the two turns are one, and the picture is not turned at all; not if what lies between
// them is wanted.
TEST_F(RunOutputs, NeighboursDoNotBecomeOneAcrossThem) {
  const Image turned = naive_turn(image_, quarter_clockwise);
  expect_outputs({stage_of("--rotate 90"), stage_of("--rotate 270")}, {1},
                 list(copy_of(turned), copy_of(image_)));
}

TEST_F(RunOutputs, TheFileIsDecodedOnce) {
  const StageChain chain{make_blur({}), stage_of("--rotate 90"), make_blur({})};
  const RunReport report = filter(chain, with_outputs({0, 1, 2}));
  std::uint64_t decoded = 0;
  for (const Span& span : report.spans)
    decoded += span.activity == Activity::decode ? span.bytes : 0;
  EXPECT_EQ(decoded, image_.bytes());
  std::vector<std::string> stages;
  for (const PassReport& pass : report.passes)
    stages.push_back(std::to_string(pass.walk) + " " + pass.stage);
  EXPECT_EQ(stages, (std::vector<std::string>{"0 blur", "0 rotate", "1 blur"}));
}

TEST_F(RunOutputs, AnOutputBeforeAutoOrientKeepsItsOrientation) {
  PictureHeader header;
  header.size = image_.size();
  header.format = image_.format();
  header.metadata.exif = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0,
                          3,   0,   0, 0,  1, 0, 6, 0, 0, 0, 0, 0,    0};
  const auto sink = open_sink(in_);
  const auto writer = create_picture(png_codec(), *sink, header, {});
  writer->write(image_.rows());
  writer->finish({});
  sink->commit();
  const RunReport report =
      filter({make_blur({}), stage_of("--auto-orient"), make_blur({})}, with_outputs({1, 2}));
  const auto orientation = [](const std::string& file) {
    return exif_orientation(open_picture(open_source(file))->header().metadata.exif);
  };
  EXPECT_EQ(orientation(path(0)), 6);
  EXPECT_EQ(orientation(path(1)), 1);
  EXPECT_EQ(orientation(out_), 1);
  EXPECT_FALSE(report.others[0].is_oriented);
  EXPECT_TRUE(report.others[1].is_oriented);
  const Image blurred = through(image_, {make_blur({})});
  EXPECT_TRUE(same_pixels(read_picture(path(0)), blurred));
  const Image turned = naive_turn(blurred, quarter_clockwise);
  EXPECT_TRUE(same_pixels(read_picture(path(1)), turned));
  EXPECT_TRUE(same_pixels(read_picture(out_), through(turned, {make_blur({})})));
}

TEST_F(RunOutputs, KeepTheirPlacesIfAStageDisappears) {
  expect_outputs({stage_of("--auto-orient"), make_blur({}), make_blur({})}, {1, 2},
                 list(copy_of(image_), through(image_, {make_blur({})}),
                      through(image_, {make_blur({}), make_blur({})})));
}

TEST_F(RunOutputs, BlocksOfAllPartsAreVerified) {
  RunOptions options = with_outputs({1});
  options.verify_blocks = 2;
  EXPECT_EQ(filter({make_blur({}), make_blur({})}, options).verified_blocks, 4);
}

TEST_F(RunOutputs, WorkOnDevices) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const StageChain chain{make_blur({}), stage_of("--gray")};
  for (const auto& session : all_sessions()) {
    Engine engine({{session->device(), "requested"}}, {.band_rows = 7});
    const RunReport report =
        filter_picture(in_, {out_, &png_codec()}, chain, engine, with_outputs({1}));
    EXPECT_TRUE(same_pixels(read_picture(path(0)), through(image_, {chain[0]})));
    EXPECT_TRUE(same_pixels(read_picture(out_), through(image_, chain)));
    EXPECT_EQ(report.engine.device, session->device().name);
  }
}

// Chains with stages that turn the picture: the file is read once, and what lies between two walks
// is kept in memory or in a temporary file.

class RunTurn : public RunOutputs {
 protected:
  [[nodiscard]] Image result() const { return read_picture(out_); }
  [[nodiscard]] RunReport filter_within(const StageChain& chain, std::uint64_t memory) {
    RunOptions options;
    options.max_memory = memory;
    return filter(chain, options);
  }
};

Image after_levels(const Image& image) {
  return by_statistics(image, make_auto_levels(0));
}

TEST_F(RunTurn, GivesTheSamePixelsWhateverTheBandsAndTheMemory) {
  const auto crop = make_crop({{41, 60}, {3, 5}});
  const StageChain chain{make_blur({}),       stage_of("--rotate 90"), crop,
                         make_auto_levels(0), stage_of("--flip"),      make_blur({})};
  Image expected = filter_on_host(image_, {make_blur({})}, {});
  expected = naive_turn(expected, quarter_clockwise);
  expected = after_levels(filter_on_host(expected, {crop}, {}));
  expected = naive_turn(expected, upside_down);
  expected = filter_on_host(expected, {make_blur({})}, {});
  for (const auto& [rows, memory] :
       each_of(std::array{1, 7, 1000}, std::vector<std::uint64_t>{1, 20'000, UINT64_MAX / 2})) {
    band_rows_ = rows;
    const RunReport report = filter_within(chain, memory);
    EXPECT_TRUE(same_pixels(result(), expected)) << rows << ", " << memory;
    EXPECT_EQ(report.output_size, (ImageSize{41, 60}));
    EXPECT_EQ(report.result_passes, 6U);
  }
}

std::vector<std::string> account(const RunReport& report) {
  std::vector<std::string> lines;
  for (const PassReport& pass : report.passes)
    lines.push_back(std::to_string(pass.walk) + " " + pass.stage + ": " + pass.reason);
  return lines;
}

TEST_F(RunTurn, SaysWhereThePictureWasKept) {
  const StageChain chain{make_blur({}), stage_of("--rotate 90"), make_blur({})};
  EXPECT_EQ(account(filter(chain)),
            (std::vector<std::string>{"0 blur: the processor",
                                      "0 rotate: the processor, whole picture in memory",
                                      "1 blur: the processor"}));
  // Three quarters of it are less than the 14000 bytes of the picture.
  EXPECT_EQ(account(filter_within(chain, 18'666))[1],
            "0 rotate: the processor, whole picture in a temporary file");
  EXPECT_EQ(account(filter_within(chain, 18'668))[1],
            "0 rotate: the processor, whole picture in memory");
}

TEST_F(RunTurn, DecodesOnceAndReadsBack) {
  const RunReport report = filter({stage_of("--rotate 180")});
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
  EXPECT_TRUE(same_pixels(result(), naive_turn(image_, half_a_turn)));
}

TEST_F(RunTurn, NeighboursTurnThePictureOnce) {
  EXPECT_EQ(account(filter({stage_of("--rotate 90"), stage_of("--flop"), stage_of("--rotate 90")})),
            (std::vector<std::string>{"0 rotate + flop + rotate: the processor"}))
      << "together they are --flop, which needs no second walk";
  const RunReport nothing = filter({stage_of("--auto-orient")});
  EXPECT_TRUE(nothing.passes.empty());
  EXPECT_EQ(nothing.engine.reason, "nothing to change");
  EXPECT_TRUE(nothing.copied);
  EXPECT_TRUE(same_pixels(result(), image_));
}

TEST_F(RunTurn, TrimCutsOffWhatAnEarlierStageHasPutAround) {
  const StageChain chain{make_pad({.sides = {3, 30, 20, 1}, .color = std::nullopt}), make_trim(0),
                         make_blur({})};
  const Image expected = filter_on_host(image_, {make_blur({})}, {});
  for (const auto& [rows, memory] :
       each_of(std::array{1, 7, 1000}, std::vector<std::uint64_t>{1, UINT64_MAX / 2})) {
    band_rows_ = rows;
    const RunReport report = filter_within(chain, memory);
    EXPECT_TRUE(same_pixels(result(), expected)) << rows << ", " << memory;
    EXPECT_EQ(report.output_size, image_.size());
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
  static_cast<void>(filter({stage_of("--flip")}, options));
  EXPECT_EQ(reported, (std::vector<std::int64_t>{20, 40, 50, 70, 90, 100}));
}

TEST_F(RunTurn, WorksOnDevices) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const StageChain chain{make_blur({}), stage_of("--rotate 270"), make_blur({})};
  Image expected = filter_on_host(image_, {make_blur({})}, {});
  expected = naive_turn(expected, quarter_counterclockwise);
  expected = filter_on_host(expected, {make_blur({})}, {});
  for (const auto& session : all_sessions()) {
    Engine engine({{session->device(), "requested"}}, {.band_rows = 7});
    RunOptions options;
    options.verify_blocks = 3;
    const RunReport report = filter_picture(in_, {out_, &png_codec()}, chain, engine, options);
    EXPECT_TRUE(same_pixels(result(), expected));
    EXPECT_EQ(report.verified_blocks, 6) << "three before and three after it is turned";
    EXPECT_EQ(report.engine.device, session->device().name);
    EXPECT_EQ(report.passes[1].reason, "the processor, whole picture in memory");
  }
}

}  // namespace
}  // namespace gpufilter::test
