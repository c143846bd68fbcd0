#include "pipeline/run.hpp"

#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/png/codec.hpp"
#include "stages/blur.hpp"
#include "support/filtering.hpp"
#include "support/names_in.hpp"
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
  Engine engine_{{{std::nullopt, "asked for"}}, {.band_rows = 20}};

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

}  // namespace
}  // namespace gpufilter
