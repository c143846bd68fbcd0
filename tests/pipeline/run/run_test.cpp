#include "pipeline/run/run.hpp"

#include <filesystem>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/png/codec.hpp"
#include "stages/geometry/crop.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

class Run : public ::testing::Test {
 protected:
  [[nodiscard]] RunReport filter(const StageChain& chain, const RunOptions& options = {}) {
    return filter_picture(in_, out_, &png_codec(), chain, engine_, options);
  }

  const StageChain blur_{make_blur({})};
  const test::TemporaryFolder folder_;
  const std::string in_ = folder_ / "in.png";
  const std::string out_ = folder_ / "out.png";
  const Image image_ = test::random_image({70, 50}, {4, 8}, 1);
  Engine engine_{{{std::nullopt, "requested"}}, {.band_rows = 20}};

  void SetUp() override { test::write_png(image_, in_); }
};

TEST_F(Run, ReportsWhatItDid) {
  const RunReport report = filter(blur_);
  EXPECT_TRUE(test::same_pixels(test::read_picture(out_), test::filter_on_host(image_, blur_, {})));
  EXPECT_EQ(report.input, in_);
  EXPECT_EQ(report.output, out_);
  EXPECT_EQ(report.input_format, &png_codec());
  EXPECT_EQ(report.output_format, &png_codec());
  EXPECT_EQ(report.size, (ImageSize{70, 50}));
  EXPECT_EQ(report.input_pixel, (PixelFormat{4, 8}));
  EXPECT_EQ(report.output_pixel, (PixelFormat{4, 8}));
  EXPECT_EQ(report.bands, 3);
  EXPECT_EQ(report.band_rows, 20);
  EXPECT_EQ(report.output_bytes, std::filesystem::file_size(out_));
  EXPECT_EQ(report.engine.device, "processor");
  ASSERT_EQ(report.passes.size(), 1U);
  EXPECT_EQ(report.passes[0].stage, "blur");
}

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

TEST_F(Run, TellsItsProgress) {
  std::vector<std::int64_t> reported;
  RunOptions options;
  options.on_progress = [&](std::int64_t done, std::int64_t all) {
    EXPECT_EQ(all, 50);
    reported.push_back(done);
  };
  static_cast<void>(filter(blur_, options));
  EXPECT_EQ(reported, (std::vector<std::int64_t>{20, 40, 50}));
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
  Image expected = test::copy_of(image_);
  for (const auto& stage : chain)
    expected = test::filter_on_host(expected, {stage}, {});
  EXPECT_TRUE(test::same_pixels(test::read_picture(out_), expected));
  EXPECT_EQ(report.size, (ImageSize{70, 50}));
  EXPECT_EQ(report.output_size, (ImageSize{100, 120}));
  EXPECT_EQ(report.bands, 6);
  EXPECT_EQ(report.band_rows, 20);
}

TEST_F(Run, ProgressIsThatOfTheInputWhateverTheResultsHeight) {
  std::vector<std::int64_t> reported;
  RunOptions options;
  options.on_progress = [&](std::int64_t done, std::int64_t all) {
    EXPECT_EQ(all, 50);
    reported.push_back(done);
  };
  static_cast<void>(filter({make_crop({{9, 30}, {3, 4}})}, options));
  EXPECT_EQ(reported, (std::vector<std::int64_t>{33, 50}));
}

TEST_F(Run, TheLimitOfPixelsHoldsForEveryIntermediateResult) {
  RunOptions options;
  options.limits.max_pixels = 9 * 70 * 50;
  static_cast<void>(filter(enlarged_and_cropped(), options));
  std::filesystem::remove(out_);
  options.limits.max_pixels -= 1;
  try {
    static_cast<void>(filter(enlarged_and_cropped(), options));
    FAIL() << "an intermediate result of too many pixels";
  } catch (const PictureError& error) {
    EXPECT_EQ(error.what(), in_ +
                                ": 210 x 150 pixels are more than the limit of 31499: raise it "
                                "with --max-pixels");
  }
  EXPECT_EQ(test::names_in(folder_.path()), std::vector<std::string>{"in.png"});
}

TEST_F(Run, TheInputsFormatIsTheDefault) {
  const std::string jpeg = folder_ / "in.jpg";
  const Image opaque = test::random_image({70, 50}, {3, 8}, 2);
  test::write_picture(opaque.rows(), jpeg);
  const RunReport report = filter_picture(jpeg, out_, nullptr, {}, engine_, {});
  EXPECT_EQ(report.output_format, &jpeg_codec());
  EXPECT_EQ(test::read_file(out_).substr(0, 3), "\xff\xd8\xff");
}

TEST_F(Run, LimitsHoldBeforeAnythingIsWritten) {
  RunOptions options;
  options.limits.max_pixels = 70 * 50 - 1;
  EXPECT_THROW(static_cast<void>(filter(blur_, options)), PictureError);
  EXPECT_EQ(test::names_in(folder_.path()), std::vector<std::string>{"in.png"});
}

TEST_F(Run, AFailureLeavesTheOldOutput) {
  const std::string bytes = test::read_file(in_);
  test::write_file(in_, bytes.substr(0, bytes.size() - 20));
  test::write_file(out_, "before");
  EXPECT_THROW(static_cast<void>(filter(blur_)), PictureError);
  EXPECT_EQ(test::read_file(out_), "before");
  std::filesystem::remove(in_);
  EXPECT_THROW(static_cast<void>(filter(blur_)), PictureError);
  EXPECT_EQ(test::names_in(folder_.path()), std::vector<std::string>{"out.png"});
}

// A device that fails in the middle of a picture.
class RunOnAFailingDevice : public Run {
 protected:
  void SetUp() override {
    Run::SetUp();
    if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
    log::set_level(log::Level::off);
    options_.on_progress = [this](std::int64_t, std::int64_t) {
      if (!std::exchange(failed_, true)) throw DeviceError("the device was lost");
    };
  }
  void TearDown() override { log::set_level(log::Level::warn); }

  const DeviceCandidate device_ =
      test::all_sessions().empty()
          ? processor("none")
          : DeviceCandidate{test::all_sessions().front()->device(), "the first"};
  RunOptions options_;
  bool failed_ = false;
};

TEST_F(RunOnAFailingDevice, TheProcessorDoesItAgain) {
  Engine engine({device_, processor("the last")}, {.band_rows = 20});
  const RunReport report = filter_picture(in_, out_, &png_codec(), blur_, engine, options_);
  EXPECT_TRUE(failed_);
  EXPECT_TRUE(test::same_pixels(test::read_picture(out_), test::filter_on_host(image_, blur_, {})));
  EXPECT_EQ(report.engine.kind, processor_kind);
  EXPECT_EQ(report.engine.fallbacks, std::vector<std::string>{"the device was lost"});
  EXPECT_EQ(report.passes.size(), 1U);
  EXPECT_EQ(test::names_in(folder_.path()), (std::vector<std::string>{"in.png", "out.png"}));
}

TEST_F(RunOnAFailingDevice, WithoutAnotherItIsAFailure) {
  Engine engine({device_}, {.band_rows = 20});
  EXPECT_THROW(static_cast<void>(filter_picture(in_, out_, &png_codec(), blur_, engine, options_)),
               DeviceError);
  EXPECT_EQ(test::names_in(folder_.path()), std::vector<std::string>{"in.png"});
}

TEST_F(RunOnAFailingDevice, WhatWentToAStreamIsNotWrittenTwice) {
  Engine engine({device_, processor("the last")}, {.band_rows = 20});
  EXPECT_THROW(
      static_cast<void>(filter_picture(in_, "/dev/null", &png_codec(), blur_, engine, options_)),
      DeviceError);
}

}  // namespace
}  // namespace gpufilter
