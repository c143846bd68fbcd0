// Files whose JPEG data a device coded are those that the processor writes.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codec/jpeg/codec.hpp"
#include "compute/jpeg_encoder.hpp"
#include "pipeline/run/run.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

class RunCoding : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
    options_.write.set(quality_option(), "90").set(jpeg_subsampling_option(), "420");
  }

  // Gradients with some noise in the rows before `noisy_rows` and nothing but noise from there on.
  void use(ImageSize size, int noisy_row = 1 << 20, PixelFormat format = {3, 8}) {
    Image image = test::random_image(size, format, 1);
    for (const auto [x, y, c] :
         test::each_sample({size.width, std::min(size.height, noisy_row)}, format.channels)) {
      const auto noise = test::sample_at(image, x, y, c) % 8;
      test::set_sample(image, x, y, c,
                       (noise + static_cast<std::uint32_t>(x * (c + 1) + y) / 8) % 256);
    }
    test::write_png(image, in_);
  }

  RunReport run(const std::string& output, std::optional<int> band_rows) {
    EngineOptions engine_options;
    engine_options.band_rows = band_rows;
    Engine engine({{test::all_sessions().front()->device(), "requested"}}, engine_options);
    return filter_picture(in_, output, &jpeg_codec(), chain_, engine, options_);
  }

  // Whether the device coded, which must not make a difference.
  bool codes(std::optional<int> band_rows = std::nullopt) {
    options_.encode_on = EncodeOn::cpu;
    static_cast<void>(run(folder_ / "processor.jpg", std::nullopt));
    options_.encode_on = EncodeOn::gpu;
    report_ = run(folder_ / "device.jpg", band_rows);
    EXPECT_TRUE(test::read_file(folder_ / "device.jpg") ==
                test::read_file(folder_ / "processor.jpg"));
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

  const test::TemporaryFolder folder_;
  const std::string in_ = folder_ / "in.png";
  StageChain chain_{test::stage_of("--invert")};
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
  chain_ = {test::stage_of("--gray")};
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
  const bool is_gpu = test::all_sessions().front()->device().kind == DeviceKind::gpu;
  EXPECT_EQ(run(folder_ / "out.jpg", std::nullopt).passes.size(), is_gpu ? 3U : 1U);
}

}  // namespace
}  // namespace gpufilter
