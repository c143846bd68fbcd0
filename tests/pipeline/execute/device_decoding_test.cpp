// A device that decodes what it filters: the same pixels and the same refusals as with the
// processor.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "codec/png/codec.hpp"
#include "pipeline/run/run.hpp"
#include "stages/point/lookup.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/jpeg.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

// Inverts the picture, and has no kernel.
class Inverted final : public OneStepStage {
 public:
  [[nodiscard]] std::string name() const override { return "inverted"; }
  [[nodiscard]] std::string key() const override { return "inverted"; }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"copy", 1e-9, 1e-9}, 1};
  }
  [[nodiscard]] StepProperties properties(const StepPlace& /*at*/) const override {
    return {.processor_only = "for a test"};
  }
  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      std::transform(source.row(y), source.row(y) + source.pitch, target.row(y),
                     [](std::uint8_t sample) { return static_cast<std::uint8_t>(~sample); });
    }
  }
};

class DeviceDecoding : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& session : test::all_sessions()) {
      if (session->device().kind != DeviceKind::gpu) take_device(session->device(), 40);
    }
    if (engine_ == nullptr) GTEST_SKIP() << "skipped: no OpenCL device here that is not a GPU";
    recipe_.before_start = [](jpeg_compress_struct& jpeg) { jpeg.restart_interval = 7; };
    write(test::encode_with_libjpeg(test::textured_raster(230, 190, 3), recipe_));
  }

  void take_device(const DeviceInfo& device, int band_rows) {
    engine_ = std::make_unique<Engine>(std::vector<DeviceCandidate>{{device, "for a test"}},
                                       EngineOptions{.band_rows = band_rows});
    engine_->await_choice();  // rows that are decoded meanwhile count
    device_ = device;
  }

  void write(const test::Bytes& jpeg) const { test::write_file(in_, {jpeg.begin(), jpeg.end()}); }

  [[nodiscard]] RunReport filter(DecodeOn decode_on, RunOptions options = {}) {
    options.decode_on = decode_on;
    return filter_picture(in_, out_, &png_codec(), chain_, *engine_, options);
  }

  // "entropy decoding, ..., blur", of all passes.
  static std::string passes_of(const RunReport& report) {
    std::string text;
    for (const PassReport& pass : report.passes)
      text += (text.empty() ? "" : ", ") + pass.stage;
    return text;
  }

  // Bytes of samples that the processor decoded.
  static std::uint64_t decoded_bytes(const RunReport& report) {
    std::uint64_t bytes = 0;
    for (const Span& span : report.spans)
      bytes += span.activity == Activity::decode ? span.bytes : 0;
    return bytes;
  }

  const test::TemporaryFolder folder_;
  const std::string in_ = folder_ / "in.jpg";
  const std::string out_ = folder_ / "out.png";
  StageChain chain_{make_auto_levels(1), make_blur({})};
  test::JpegRecipe recipe_;
  std::unique_ptr<Engine> engine_;
  DeviceInfo device_;
};

constexpr const char* on_processor = "statistics, levels + blur";
constexpr const char* on_device =
    "entropy decoding, inverse DCT, upsampling, statistics, "
    "entropy decoding, inverse DCT, upsampling, levels + blur";

TEST_F(DeviceDecoding, ChangesNoPixel) {
  const RunReport by_processor = filter(DecodeOn::cpu);
  EXPECT_EQ(passes_of(by_processor), on_processor);
  EXPECT_GT(decoded_bytes(by_processor), 0U);
  const Image expected = test::read_picture(out_);
  for (const auto& session : test::all_sessions()) {
    take_device(session->device(), 40);
    const RunReport by_device = filter(DecodeOn::gpu);
    EXPECT_EQ(passes_of(by_device), on_device) << device_.name;
    EXPECT_EQ(decoded_bytes(by_device), 0U) << device_.name;
    EXPECT_TRUE(test::same_pixels(test::read_picture(out_), expected)) << device_.name;
  }
}

TEST_F(DeviceDecoding, IsDoneOnlyIfTheFirstStageRunsThere) {
  chain_ = {std::make_shared<Inverted>(), make_blur({})};
  EXPECT_EQ(passes_of(filter(DecodeOn::gpu)), "inverted, blur");
  const Image first = test::read_picture(out_);
  static_cast<void>(filter(DecodeOn::cpu));
  EXPECT_TRUE(test::same_pixels(first, test::read_picture(out_)));
}

TEST_F(DeviceDecoding, IsVerified) {
  RunOptions options;
  options.verify_blocks = 5;
  for (const auto& session : test::all_sessions()) {
    take_device(session->device(), 40);
    const RunReport report = filter(DecodeOn::gpu, options);
    EXPECT_EQ(passes_of(report), on_device) << device_.name;
    EXPECT_EQ(report.verified_blocks, 5) << device_.name;
  }
}

TEST_F(DeviceDecoding, LeavesOtherFilesToTheProcessor) {
  recipe_.progressive = true;
  write(test::encode_with_libjpeg(test::textured_raster(230, 190, 3), recipe_));
  EXPECT_EQ(passes_of(filter(DecodeOn::gpu)), on_processor);
}

TEST_F(DeviceDecoding, KeepsWithinTheMemory) {
  RunOptions options;
  options.max_memory = std::uint64_t{60} << 10U;
  options.decoder_memory = 0;
  EXPECT_EQ(passes_of(filter(DecodeOn::gpu, options)), on_processor);
}

TEST_F(DeviceDecoding, IsDoneByGpusIfItIsSooner) {
  EXPECT_EQ(passes_of(filter(DecodeOn::automatic)), on_processor) << "a small picture";
  write(test::encode_with_libjpeg(test::textured_raster(1300, 1100, 3), recipe_));
  EXPECT_EQ(passes_of(filter(DecodeOn::automatic)), on_processor) << "not a GPU";
  const Image expected = test::read_picture(out_);
  device_.kind = DeviceKind::gpu;
  take_device(device_, 300);
  EXPECT_EQ(passes_of(filter(DecodeOn::automatic)), on_device);
  EXPECT_TRUE(test::same_pixels(test::read_picture(out_), expected));
}

TEST_F(DeviceDecoding, RefusesWhatTheProcessorRefuses) {
  test::Bytes damaged = test::encode_with_libjpeg(test::textured_raster(230, 190, 3), recipe_);
  damaged.erase(damaged.end() - 400, damaged.end() - 2);
  write(damaged);
  const auto refusal = [&](DecodeOn decode_on) -> std::string {
    return test::objection_to<PictureError>([&] { return filter(decode_on); }, "");
  };
  EXPECT_NE(refusal(DecodeOn::cpu), "");
  EXPECT_EQ(refusal(DecodeOn::gpu), refusal(DecodeOn::cpu));
}

}  // namespace
}  // namespace gpufilter
