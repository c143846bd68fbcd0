#include "pipeline/run/run.hpp"

#include "base/log.hpp"
#include "codec/formats.hpp"
#include "compute/jpeg_encoder.hpp"
#include "pipeline/run/run_totals.hpp"
#include "stages/geometry/geometry.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"

namespace gpufilter::test {
namespace {

class Run : public ::testing::Test {
 protected:
  [[nodiscard]] RunReport filter(const StageChain& chain, const RunOptions& options = {}) {
    return filter_picture(in_, {out_, &png_codec()}, chain, engine_, options);
  }
  // The rows of the input after which progress was reported.
  [[nodiscard]] std::vector<std::int64_t> progress_of(const StageChain& chain) {
    std::vector<std::int64_t> reported;
    RunOptions options;
    options.on_progress = [&](std::int64_t done, std::int64_t all) {
      EXPECT_EQ(all, 50);
      reported.push_back(done);
    };
    static_cast<void>(filter(chain, options));
    return reported;
  }

  const StageChain blur_{make_blur({})};
  const TemporaryFolder folder_;
  const std::string in_ = folder_ / "in.png";
  const std::string out_ = folder_ / "out.png";
  const Image image_ = random_image({70, 50}, {4, 8}, 1);
  Engine engine_{{{std::nullopt, "requested"}}, {.band_rows = 20}};

  void SetUp() override { write_png(image_, in_); }
};

TEST_F(Run, SpansLieWithinTheTotal) {
  const Nanoseconds before = now();
  const RunReport report = filter(blur_);
  EXPECT_GE(report.start, before);
  EXPECT_LE(report.start + report.total, now());
  int kernels = 0;
  for (const Span& span : report.spans) {
    EXPECT_GE(span.start, report.start);
    EXPECT_LE(span.start + span.duration, report.start + report.total);
    kernels += span.activity == Activity::kernel ? 1 : 0;
  }
  EXPECT_EQ(kernels, 3);
}

TEST_F(Run, ProgressIsThatOfTheInputWhateverTheResultsHeight) {
  EXPECT_EQ(progress_of(blur_), (std::vector<std::int64_t>{20, 40, 50}));
  EXPECT_EQ(progress_of({make_crop({{9, 30}, {3, 4}})}), (std::vector<std::int64_t>{33, 50}));
}

// A picture that grows: every pixel is repeated.
class Enlarged final : public OneStepStage {
 public:
  explicit Enlarged(int times) : times_(times) {}
  [[nodiscard]] std::string name() const override { return "enlarged"; }
  [[nodiscard]] std::string key() const override { return "enlarged"; }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"copy", 1e-9, 1e-9}, 1};
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {{input.size.width * times_, input.size.height * times_}, input.format};
  }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize /*source*/) const override {
    return {target.begin / times_, (target.end - 1) / times_ + 1};
  }
  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
    EXPECT_EQ(sizes.target.width, sizes.source.width * times_);
    EXPECT_EQ(sizes.target.height, sizes.source.height * times_);
    const std::size_t bytes = source.format.bytes_per_pixel();
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      for (int x = 0; x < target.width; ++x) {
        std::copy_n(source.row(y / times_) + static_cast<std::size_t>(x / times_) * bytes, bytes,
                    target.row(y) + static_cast<std::size_t>(x) * bytes);
      }
    }
  }

 private:
  int times_;
};

StageChain enlarged_and_cropped() {
  return {make_blur({}), std::make_shared<Enlarged>(3), make_blur({.border = Border::wrap}),
          make_crop({{100, 120}, {90, 20}})};
}

TEST_F(Run, ResultsMayHaveAnotherSizeThanTheirSource) {
  const StageChain chain = enlarged_and_cropped();
  const RunReport report = filter(chain);
  Image expected = copy_of(image_);
  for (const auto& stage : chain)
    expected = filter_on_host(expected, {stage}, {});
  EXPECT_TRUE(same_pixels(read_picture(out_), expected));
  EXPECT_EQ(report.size, (ImageSize{70, 50}));
  EXPECT_EQ(report.output_size, (ImageSize{100, 120}));
  EXPECT_EQ(report.bands, 6);
  EXPECT_EQ(report.band_rows, 20);
}

TEST_F(Run, TheLimitOfPixelsHoldsForEveryIntermediateResult) {
  RunOptions options;
  options.limits.max_pixels = 9 * 70 * 50;
  static_cast<void>(filter(enlarged_and_cropped(), options));
  std::filesystem::remove(out_);
  options.limits.max_pixels -= 1;
  EXPECT_EQ(
      objection_to<PictureError>([&] { return filter(enlarged_and_cropped(), options); }),
      in_ + ": 210 x 150 pixels are more than the limit of 31499: raise it with --max-pixels");
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"in.png"});
}

// A device that fails in the middle of a picture.
class RunOnAFailingDevice : public Run {
 protected:
  void SetUp() override {
    Run::SetUp();
    if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
    log::set_level(log::Level::off);
    options_.on_progress = [this](std::int64_t, std::int64_t) {
      if (!std::exchange(failed_, true)) throw DeviceError("the device was lost");
    };
  }
  void TearDown() override { log::set_level(log::Level::warn); }

  const DeviceCandidate device_ =
      all_sessions().empty() ? processor("none")
                             : DeviceCandidate{all_sessions().front()->device(), "the first"};
  RunOptions options_;
  bool failed_ = false;
};

TEST_F(RunOnAFailingDevice, TheProcessorDoesItAgain) {
  Engine engine({device_, processor("the last")}, {.band_rows = 20});
  const RunReport report = filter_picture(in_, {out_, &png_codec()}, blur_, engine, options_);
  EXPECT_TRUE(failed_);
  EXPECT_TRUE(same_pixels(read_picture(out_), filter_on_host(image_, blur_, {})));
  EXPECT_EQ(report.engine.kind, processor_kind);
  EXPECT_EQ(report.engine.fallbacks, std::vector<std::string>{"the device was lost"});
  EXPECT_EQ(report.passes.size(), 1U);
  EXPECT_EQ(names_in(folder_.path()), (std::vector<std::string>{"in.png", "out.png"}));
}

TEST_F(RunOnAFailingDevice, WithoutAnotherItIsAFailure) {
  Engine engine({device_}, {.band_rows = 20});
  EXPECT_THROW(
      static_cast<void>(filter_picture(in_, {out_, &png_codec()}, blur_, engine, options_)),
      DeviceError);
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"in.png"});
}

TEST_F(RunOnAFailingDevice, WhatWentToAStreamIsNotWrittenTwice) {
  Engine engine({device_, processor("the last")}, {.band_rows = 20});
  EXPECT_THROW(
      static_cast<void>(filter_picture(in_, {"/dev/null", &png_codec()}, blur_, engine, options_)),
      DeviceError);
}

// Files whose JPEG data a device coded are those that the processor writes.

class RunCoding : public ::testing::Test {
 protected:
  void SetUp() override {
    if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
    options_.write.set(quality_option(), "90").set(jpeg_subsampling_option(), "420");
  }

  // Gradients with some noise in the rows before `noisy_rows` and nothing but noise from there on.
  void use(ImageSize size, int noisy_row = 1 << 20, PixelFormat format = {3, 8}) {
    Image image = random_image(size, format, 1);
    for (const auto [x, y, c] :
         each_sample({size.width, std::min(size.height, noisy_row)}, format.channels)) {
      const auto noise = sample_at(image, x, y, c) % 8;
      set_sample(image, x, y, c, (noise + static_cast<std::uint32_t>(x * (c + 1) + y) / 8) % 256);
    }
    write_png(image, in_);
  }

  RunReport run(const std::string& output, std::optional<int> band_rows) {
    EngineOptions engine_options;
    engine_options.band_rows = band_rows;
    Engine engine({{all_sessions().front()->device(), "requested"}}, engine_options);
    return filter_picture(in_, {output, &jpeg_codec()}, chain_, engine, options_);
  }

  // Whether the device coded, which must not make a difference.
  bool codes(std::optional<int> band_rows = std::nullopt) {
    options_.encode_on = EncodeOn::cpu;
    static_cast<void>(run(folder_ / "processor.jpg", std::nullopt));
    options_.encode_on = EncodeOn::gpu;
    report_ = run(folder_ / "device.jpg", band_rows);
    EXPECT_TRUE(read_file(folder_ / "device.jpg") == read_file(folder_ / "processor.jpg"));
    return std::any_of(report_.passes.begin(), report_.passes.end(),
                       [](const PassReport& pass) { return pass.stage == JpegEncoder::steps[0]; });
  }

  // Kernels that joined code: four for each band.
  [[nodiscard]] int joining_kernels() const {
    const int last = static_cast<int>(report_.passes.size()) - 1;
    return static_cast<int>(
        std::count_if(report_.spans.begin(), report_.spans.end(), [last](const Span& span) {
          return span.activity == Activity::kernel && span.pass == last;
        }));
  }

  const TemporaryFolder folder_;
  const std::string in_ = folder_ / "in.png";
  StageChain chain_{stage_of("--invert")};
  RunOptions options_;
  RunReport report_;
};

// The restart interval of this picture is 272 rows.
TEST_F(RunCoding, WritesTheProcessorsFileForAnyBands) {
  use({1001, 1111});
  EXPECT_TRUE(codes());
  EXPECT_TRUE(codes(272));
  EXPECT_EQ(joining_kernels(), 4 * 5);
  EXPECT_TRUE(codes(800));
  EXPECT_EQ(report_.band_rows, 544);
  EXPECT_EQ(joining_kernels(), 4 * 3);
  EXPECT_FALSE(codes(271));
}

TEST_F(RunCoding, WritesOneIntervalFromOneBand) {
  use({333, 222});
  EXPECT_TRUE(codes());
  EXPECT_FALSE(codes(208));
  use({1001, 1111});
  options_.write.set(jpeg_restart_option(), "off");
  EXPECT_TRUE(codes(1111));
  EXPECT_FALSE(codes(1104));
}

TEST_F(RunCoding, LeavesLargeDataToTheProcessor) {
  options_.write.set(quality_option(), "100");
  use({1001, 1111}, 0);
  EXPECT_TRUE(codes(272));
  use({1001, 1111}, 600);  // the first two bands are coded
  EXPECT_TRUE(codes(272));
}

TEST_F(RunCoding, CodesGrey) {
  use({1500, 800});
  chain_ = {stage_of("--gray")};
  EXPECT_TRUE(codes());
}

TEST_F(RunCoding, IsForBaselineWithoutAlpha) {
  use({64, 64}, 0, {4, 8});
  EXPECT_FALSE(codes());
  use({64, 64});
  EXPECT_TRUE(codes());
  options_.verify_blocks = 4;
  EXPECT_FALSE(codes());
  options_.verify_blocks = 0;
  options_.write.set(jpeg_progressive_option(), "on");
  EXPECT_FALSE(codes());
}

// A CPU device would only be slower than the processor's own encoder.
TEST_F(RunCoding, IsAutomaticOnGpusOnly) {
  use({64, 64});
  static_cast<void>(codes());
  options_.encode_on = EncodeOn::automatic;
  const bool is_gpu = all_sessions().front()->device().kind == DeviceKind::gpu;
  EXPECT_EQ(run(folder_ / "out.jpg", std::nullopt).passes.size(), is_gpu ? 3U : 1U);
}

TEST(RunTotals, AddUpEveryKindOfSpan) {
  RunReport report;
  report.passes.resize(2);
  report.passes[1].stage = "blur";
  report.spans = {{.activity = Activity::encode, .duration = 5, .bytes = 50},
                  {.activity = Activity::kernel, .pass = 1, .duration = 7, .bytes = 70},
                  {.activity = Activity::kernel, .pass = 0, .duration = 11, .bytes = 110},
                  {.activity = Activity::kernel, .pass = 1, .duration = 13, .bytes = 130},
                  {.activity = Activity::decode, .duration = 17, .bytes = 170},
                  {.activity = Activity::build_program, .pass = 0, .duration = 19}};
  const auto totals = activity_totals(report);
  ASSERT_EQ(totals.size(), 5U);
  EXPECT_EQ(totals[0].activity, Activity::build_program);
  EXPECT_EQ(totals[1].activity, Activity::decode);
  EXPECT_EQ(totals[2].activity, Activity::kernel);
  EXPECT_EQ(totals[2].pass, 0);
  EXPECT_EQ(totals[2].duration, 11);
  EXPECT_EQ(totals[2].commands, 1);
  EXPECT_EQ(totals[3].pass, 1);
  EXPECT_EQ(totals[3].stage, "blur");
  EXPECT_EQ(totals[3].duration, 20);
  EXPECT_EQ(totals[3].bytes, 200U);
  EXPECT_EQ(totals[3].commands, 2);
  EXPECT_EQ(totals[4].activity, Activity::encode);
}

TEST(RunTotals, KnowWhatNoSpanAccountsFor) {
  RunReport report;
  report.start = 1000;
  report.total = 100;
  EXPECT_EQ(unaccounted_time(report), 100);
  report.spans = {
      {.activity = Activity::encode, .start = 1060, .duration = 20},  // out of order
      {.activity = Activity::decode, .start = 1010, .duration = 30},
      {.activity = Activity::kernel, .start = 1020, .duration = 5},   // within the one before
      {.activity = Activity::upload, .start = 1035, .duration = 10},  // overlaps it
  };
  EXPECT_EQ(unaccounted_time(report), 10 + 15 + 20);
  report.spans.push_back({.activity = Activity::find_devices, .start = 990, .duration = 15});
  EXPECT_EQ(unaccounted_time(report), 5 + 15 + 20) << "began before";
  report.spans.push_back({.activity = Activity::encode, .start = 1090, .duration = 50});
  EXPECT_EQ(unaccounted_time(report), 5 + 15 + 10) << "ended after";
  report.spans.push_back({.activity = Activity::encode, .start = 2000, .duration = 50});
  EXPECT_EQ(unaccounted_time(report), 5 + 15 + 10) << "outside";
}

}  // namespace
}  // namespace gpufilter::test
