#include "pipeline/choose/engine.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override { log::set_level(log::Level::off); }
  void TearDown() override { log::set_level(log::Level::warn); }

  // A device that no picture fits: it cannot allocate a single row.
  static DeviceCandidate hopeless(const std::string& name) {
    DeviceInfo device;
    device.name = name;
    device.platform_version = "OpenCL 1.2";
    device.driver_version = "7";
    device.max_allocation = 1;
    if (!test::all_sessions().empty())
      device.handle = test::all_sessions().front()->device().handle;
    return {device, "the first"};
  }

  static DeviceCandidate last() { return processor("the last"); }

  static Work blur_of(const Image& image, const BlurParameters& parameters = {}) {
    const PictureShape shape{image.size(), image.format()};
    return {.input = shape, .chain = lower_chain({make_blur(parameters)}, {.shape = shape})};
  }

  static Image run(const Prepared& prepared, const Image& image) {
    Image result = test::poisoned_image(image.size(), prepared.plan->output().format);
    for (const RowRange& band : prepared.plan->bands()) {
      const RowRange window = prepared.plan->windows(band).front();
      prepared.executor->run(image.rows().part(window), result.rows().part(band));
    }
    return result;
  }

  const Image image_ = test::random_image({50, 40}, {3, 8}, 1);
  const Image expected_ = test::filter_on_host(image_, {make_blur({})}, {});
  Timeline timeline_;
};

TEST_F(EngineTest, RunsOnTheProcessor) {
  Engine engine({last()}, {});
  const Prepared prepared = engine.prepare(blur_of(image_), timeline_);
  EXPECT_TRUE(test::same_pixels(run(prepared, image_), expected_));
  EXPECT_EQ(prepared.report.device, "processor");
  EXPECT_EQ(prepared.report.kind, "processor");
  EXPECT_EQ(prepared.report.platform, "");
  EXPECT_EQ(prepared.report.reason, "the last");
  EXPECT_TRUE(prepared.report.fallbacks.empty());
}

TEST_F(EngineTest, WithoutStagesNeedsNoExecutor) {
  Engine engine({last()}, {});
  const Prepared prepared = engine.prepare({{image_.size(), image_.format()}, {}}, timeline_);
  EXPECT_EQ(prepared.executor, nullptr);
  EXPECT_EQ(prepared.plan->output().format, image_.format());
  EXPECT_EQ(prepared.report.device, "none");
  EXPECT_EQ(prepared.report.kind, "none");
}

TEST_F(EngineTest, StartsADeviceOnce) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const DeviceInfo& device = test::all_sessions().front()->device();
  Engine engine({{device, "the first"}, last()}, {});
  for (int i = 0; i < 2; ++i) {
    const Prepared prepared = engine.prepare(blur_of(image_), timeline_);
    EXPECT_TRUE(test::same_pixels(run(prepared, image_), expected_));
    EXPECT_EQ(prepared.report.device, device.name);
    EXPECT_EQ(prepared.report.kind, to_string(device.kind));
    EXPECT_EQ(prepared.report.driver, device.driver_version);
  }
  int starts = 0;
  for (const Span& span : timeline_.spans())
    starts += span.activity == Activity::start_device ? 1 : 0;
  EXPECT_EQ(starts, 1);
}

TEST_F(EngineTest, ADeviceDecodesSoManyPicturesAtATime) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Engine engine({{test::all_sessions().front()->device(), "the first"}, last()}, {});
  std::vector<std::shared_ptr<void>> slots;
  for (int i = 0; i < Engine::slots; ++i)
    slots.push_back(engine.acquire_slot());
  auto next = std::async(std::launch::async, [&engine] { return engine.acquire_slot(); });
  EXPECT_EQ(next.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  slots.pop_back();
  EXPECT_NE(next.get(), nullptr);
}

TEST_F(EngineTest, TheProcessorHasNoSlots) {
  Engine engine({last()}, {});
  EXPECT_EQ(engine.acquire_slot(), nullptr);
}

TEST_F(EngineTest, FallsBackFromWhatFails) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Engine engine({hopeless("one"), hopeless("two"), last()}, {});
  const Prepared prepared = engine.prepare(blur_of(image_), timeline_);
  EXPECT_TRUE(test::same_pixels(run(prepared, image_), expected_));
  EXPECT_EQ(prepared.report.device, "processor");
  EXPECT_EQ(prepared.report.platform, "") << "nothing is left of the devices before";
  EXPECT_EQ(prepared.report.driver, "");
  EXPECT_EQ(prepared.report.fallbacks.size(), 2U);
}

TEST_F(EngineTest, LeavesWhatFailedForGood) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Engine engine({hopeless("one"), last()}, {});
  static_cast<void>(engine.prepare(blur_of(image_), timeline_));
  const Prepared prepared = engine.prepare(blur_of(image_), timeline_);
  EXPECT_EQ(prepared.report.fallbacks.size(), 1U);
}

TEST_F(EngineTest, WarnsOnceForEachDeviceLeft) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  log::set_level(log::Level::warn);
  Engine engine({hopeless("one"), last()}, {});
  ::testing::internal::CaptureStderr();
  static_cast<void>(engine.prepare(blur_of(image_), timeline_));
  static_cast<void>(engine.prepare(blur_of(image_), timeline_));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(test::contains(said, "falling back to processor"));
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
}

TEST_F(EngineTest, TheLastFailureIsThrown) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Engine engine({hopeless("one"), hopeless("two")}, {});
  EXPECT_THROW(static_cast<void>(engine.prepare(blur_of(image_), timeline_)), DeviceError);
}

TEST_F(EngineTest, WrongUsageIsNoReasonToFallBack) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  DeviceInfo device = test::all_sessions().front()->device();
  device.kind = DeviceKind::gpu;  // a CPU's tile is one work-item
  device.max_work_group_size = 64;
  Engine engine({{device, "the first"}, last()}, {});
  const Work tiled = blur_of(image_, {.variant = BlurVariant::tiled, .tile = 32});
  EXPECT_THROW(static_cast<void>(engine.prepare(tiled, timeline_)), UsageError);
  const Prepared prepared = engine.prepare(blur_of(image_), timeline_);
  EXPECT_EQ(prepared.report.device, device.name);
  EXPECT_TRUE(prepared.report.fallbacks.empty());
}

TEST_F(EngineTest, ChoosesInTheBackground) {
  std::promise<void> go;
  Engine engine(
      [&](std::size_t) {
        go.get_future().wait();
        return std::optional(last());
      },
      {});
  EXPECT_FALSE(engine.is_ready());
  go.set_value();
  engine.await_choice();
  EXPECT_TRUE(engine.is_ready());
  for (int i = 0; i < 2; ++i) {
    const Prepared prepared = engine.prepare(blur_of(image_), timeline_);
    EXPECT_TRUE(test::same_pixels(run(prepared, image_), expected_));
    EXPECT_EQ(prepared.report.reason, "the last");
  }
  int searches = 0;
  for (const Span& span : timeline_.spans())
    searches += span.activity == Activity::find_devices ? 1 : 0;
  EXPECT_EQ(searches, 1) << "which the first picture accounts for";
}

TEST_F(EngineTest, AChoiceThatFailsIsToldEveryTime) {
  Engine engine(
      [](std::size_t) -> std::optional<DeviceCandidate> { throw DeviceError("no such device"); },
      {});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(engine.await_choice(), DeviceError);
    EXPECT_THROW(static_cast<void>(engine.prepare(blur_of(image_), timeline_)), DeviceError);
  }
  engine.keep_programs();
}

TEST_F(EngineTest, OptionsShapeTheBands) {
  Engine engine({last()}, {.band_rows = 7});
  EXPECT_EQ(engine.prepare(blur_of(image_), timeline_).plan->band_rows, 7);
}

}  // namespace
}  // namespace gpufilter
