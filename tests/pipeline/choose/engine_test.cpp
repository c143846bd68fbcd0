#include "pipeline/choose/engine.hpp"

#include <future>

#include "base/log.hpp"
#include "net/pixel/mlp.hpp"
#include "pipeline/choose/machine_rates.hpp"
#include "pipeline/run/run.hpp"
#include "stages/point/lookup.hpp"
#include "support/filtering.hpp"
#include "support/picture_tasks.hpp"

namespace gpufilter::test {
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
    if (!all_sessions().empty()) device.handle = all_sessions().front()->device().handle;
    return {device, "the first"};
  }

  static DeviceCandidate last() { return processor("the last"); }

  static Work blur_of(const Image& image, const BlurParameters& parameters = {}) {
    const PictureShape shape{image.size(), image.format()};
    return {.input = shape, .chain = lower_chain({make_blur(parameters)}, {.shape = shape})};
  }

  static Image run(const Prepared& prepared, const Image& image) {
    Image result = poisoned_image(image.size(), prepared.plan->output().format);
    for (const RowRange& band : prepared.plan->bands()) {
      const RowRange window = prepared.plan->windows(band).front();
      prepared.executor->run(image.rows().part(window), result.rows().part(band));
    }
    return result;
  }

  const Image image_ = random_image({50, 40}, {3, 8}, 1);
  const Image expected_ = filter_on_host(image_, {make_blur({})}, {});
  Timeline timeline_;
};

TEST_F(EngineTest, WithoutStagesNeedsNoExecutor) {
  Engine engine({last()}, {});
  const Prepared prepared = engine.prepare({{image_.size(), image_.format()}, {}}, timeline_);
  EXPECT_EQ(prepared.executor, nullptr);
  EXPECT_EQ(prepared.plan->output().format, image_.format());
  EXPECT_EQ(prepared.report.device, "none");
  EXPECT_EQ(prepared.report.kind, "none");
}

TEST_F(EngineTest, StartsADeviceOnce) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const DeviceInfo& device = all_sessions().front()->device();
  Engine engine({{device, "the first"}, last()}, {});
  for (int i = 0; i < 2; ++i) {
    const Prepared prepared = engine.prepare(blur_of(image_), timeline_);
    EXPECT_TRUE(same_pixels(run(prepared, image_), expected_));
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
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Engine engine({{all_sessions().front()->device(), "the first"}, last()}, {});
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
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Engine engine({hopeless("one"), hopeless("two"), last()}, {});
  const Prepared prepared = engine.prepare(blur_of(image_), timeline_);
  EXPECT_TRUE(same_pixels(run(prepared, image_), expected_));
  EXPECT_EQ(prepared.report.device, "processor");
  EXPECT_EQ(prepared.report.platform, "") << "nothing is left of the devices before";
  EXPECT_EQ(prepared.report.driver, "");
  EXPECT_EQ(prepared.report.fallbacks.size(), 2U);
}

TEST_F(EngineTest, LeavesWhatFailedForGood) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Engine engine({hopeless("one"), last()}, {});
  static_cast<void>(engine.prepare(blur_of(image_), timeline_));
  const Prepared prepared = engine.prepare(blur_of(image_), timeline_);
  EXPECT_EQ(prepared.report.fallbacks.size(), 1U);
}

TEST_F(EngineTest, WarnsOnceForEachDeviceLeft) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  log::set_level(log::Level::warn);
  Engine engine({hopeless("one"), last()}, {});
  ::testing::internal::CaptureStderr();
  static_cast<void>(engine.prepare(blur_of(image_), timeline_));
  static_cast<void>(engine.prepare(blur_of(image_), timeline_));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(contains(said, "falling back to processor"));
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
}

TEST_F(EngineTest, TheLastFailureIsThrown) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Engine engine({hopeless("one"), hopeless("two")}, {});
  EXPECT_THROW(static_cast<void>(engine.prepare(blur_of(image_), timeline_)), DeviceError);
}

TEST_F(EngineTest, WrongUsageIsNoReasonToFallBack) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  DeviceInfo device = all_sessions().front()->device();
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
    EXPECT_TRUE(same_pixels(run(prepared, image_), expected_));
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

// How long a picture is expected to take, from rates.

std::shared_ptr<const Stage> mlp(const std::vector<int>& widths) {
  Network network;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const auto outputs = static_cast<std::size_t>(widths[i + 1]);
    network.layers.push_back(
        {.inputs = widths[i],
         .weights = std::vector<float>(outputs * static_cast<std::size_t>(widths[i])),
         .bias = std::vector<float>(outputs)});
  }
  return make_mlp(std::move(network));
}

// One operation of any kind takes a second, on either side.
class Estimates : public ::testing::Test {
 protected:
  Estimates() {
    for (const auto& [place, kind] :
         each_of(std::array{"host", "device"},
                 std::array{"blur 8", "statistics", "transfer", "look_up_samples 8", "decode JPEG",
                            "encode PNG"})) {
      store_.learn(place, kind, 1);
    }
  }
  RateStore store_;
  const Rates rates_{store_, "host", "device"};
};

TEST_F(Estimates, CountOperationsAndBytes) {
  const TaskTimes times = estimated_times(task_of(5, 2), rates_);
  EXPECT_DOUBLE_EQ(times.alone.decode, 30);
  EXPECT_DOUBLE_EQ(times.alone.encode, 30);
  EXPECT_DOUBLE_EQ(times.alone.filter, 30);
  EXPECT_DOUBLE_EQ(times.gpu, 30 + 60) << "a blur, and transfers both ways";
}

TEST_F(Estimates, AStageThatNeedsStatisticsTakesAnotherWalk) {
  const TaskTimes times =
      estimated_times(task_of(5, 2, {make_blur({}), make_auto_levels(0)}), rates_);
  EXPECT_DOUBLE_EQ(times.alone.decode, 60);
  EXPECT_DOUBLE_EQ(times.alone.filter, 2 * 30 + 30 + 30) << "blur twice, statistics, look-up";
}

// A program for each walk, and for each window after the first.
TEST_F(Estimates, CompilingTakesProgramsAndLiterals) {
  store_.learn("device", program_rate.kind, 100);
  store_.learn("device", literal_rate.kind, 1);
  const auto compile = [&](StageChain chain) {
    return estimated_times(task_of(5, 2, chain), rates_).compile;
  };
  const auto levels = make_levels({1, false}, {9, false});
  EXPECT_DOUBLE_EQ(compile({make_blur({})}), 100);
  EXPECT_DOUBLE_EQ(compile({levels, make_blur({}), levels}), 100) << "in one kernel";
  EXPECT_DOUBLE_EQ(compile({make_blur({}), make_blur({})}), 200);
  EXPECT_DOUBLE_EQ(compile({levels, make_auto_levels(0)}), 200) << "one for the statistics";
  EXPECT_DOUBLE_EQ(compile({mlp({3, 10, 3})}), 100 + 60);
  EXPECT_DOUBLE_EQ(compile({mlp({3, 256, 256, 3})}), 100) << "too wide: its weights are data";
}

TEST_F(Estimates, ADeviceThatDecodesNeedsElevenProgramsMore) {
  store_.learn("device", program_rate.kind, 100);
  PictureTask task = task_of(5, 2, {make_blur({})});
  const TaskTimes before = estimated_times(task, rates_);
  task.device_decodes = true;
  const TaskTimes times = estimated_times(task, rates_);
  EXPECT_DOUBLE_EQ(times.compile, before.compile + 1100);
  EXPECT_DOUBLE_EQ(times.gpu, 30 + 30 + 30) << "it decodes, and only the result is transferred";
  EXPECT_DOUBLE_EQ(times.alone.decode, 30);
  EXPECT_DOUBLE_EQ(times.beside_gpu.decode, 0);
  EXPECT_DOUBLE_EQ(times.beside_gpu.encode, 30);
}

TEST_F(Estimates, ADeviceThatEncodesNeedsTwoProgramsMore) {
  store_.learn("device", program_rate.kind, 100);
  PictureTask task = task_of(5, 2, {make_blur({})});
  const TaskTimes before = estimated_times(task, rates_);
  task.device_encodes = true;
  const TaskTimes times = estimated_times(task, rates_);
  EXPECT_DOUBLE_EQ(times.compile, before.compile + 200);
  EXPECT_NEAR(times.gpu, 30 + 30, 1e-3) << "fewer bytes come down";
  EXPECT_DOUBLE_EQ(times.alone.encode, 30);
  EXPECT_DOUBLE_EQ(times.beside_gpu.decode, 30);
  EXPECT_DOUBLE_EQ(times.beside_gpu.encode, 0);
}

TEST(EstimatedTimes, OverlapWithTheCodecs) {
  TaskTimes times{
      .alone = {4, 8, 12}, .beside_gpu = {4, 8, 0}, .gpu = 1, .parallel_encoding = true};
  EXPECT_DOUBLE_EQ(time_on_host(times, 1, 1), 24);
  EXPECT_DOUBLE_EQ(time_on_host(times, 1, 4), 6);
  EXPECT_DOUBLE_EQ(time_on_host(times, 1, 100), 4) << "decoding takes one thread";
  EXPECT_DOUBLE_EQ(time_with_gpu(times, 1, 4, 0), 4);
  EXPECT_DOUBLE_EQ(time_with_gpu(times, 1, 4, 10), 12) << "nothing is encoded before";
  EXPECT_DOUBLE_EQ(time_on_host(times, 10, 4), 60);
  // Two pictures while it starts, then one picture every three seconds.
  EXPECT_DOUBLE_EQ(time_with_gpu(times, 10, 4, 12), 12 + 8 * 3);
  EXPECT_DOUBLE_EQ(time_with_gpu(times, 2, 4, 60), 12) << "over before it is ready";
  times.parallel_encoding = false;
  EXPECT_DOUBLE_EQ(time_on_host(times, 1, 100), 8) << "so does encoding";
  // A device with three seconds per picture takes over half of the work of two threads.
  const TaskTimes slow{.alone = {0, 0, 6}, .beside_gpu = {}, .gpu = 3};
  EXPECT_DOUBLE_EQ(time_with_gpu(slow, 10, 2, 0), 15);
  // A device that encodes leaves only the decoding to the processor.
  TaskTimes coded{.alone = {4, 8, 12}, .beside_gpu = {4, 0, 0}, .gpu = 3};
  EXPECT_DOUBLE_EQ(time_with_gpu(coded, 1, 4, 0), 4);
  coded.parallel_encoding = true;
  EXPECT_DOUBLE_EQ(time_with_gpu(coded, 1, 4, 10), 13);
}

// The rates after a run.

class MachineRatesTest : public ::testing::Test {
 protected:
  const std::shared_ptr<RateStore> store_ = std::make_shared<RateStore>();
  MachineRates rates_{store_, "vendor"};
};

TEST_F(MachineRatesTest, AMachineWithoutAGpuIsSearchedAgainAfterAWeek) {
  EXPECT_TRUE(rates_.may_have_gpu());
  EXPECT_FALSE(MachineRates(store_, "").may_have_gpu()) << "there is no vendor";
  rates_.keep_without_gpu();
  EXPECT_FALSE(rates_.may_have_gpu());
  EXPECT_TRUE(MachineRates(store_, "another vendor").may_have_gpu());
  EXPECT_EQ(rates_.gpu_name(), "a GPU");
  for (const char* note : {"none since day 1", "none since day 99999999", "none since day x"}) {
    store_->keep_note("GPU of vendor", note);
    EXPECT_TRUE(rates_.may_have_gpu()) << note;
    EXPECT_EQ(rates_.gpu_name(), "a GPU") << note;
  }
}

RunReport report_of(const std::string& kind, const std::string& device) {
  RunReport report;
  report.engine.kind = kind;
  report.engine.device = device;
  report.engine.driver = "1";
  PassReport pass;
  pass.stage = "blur";
  pass.work = {{{"blur 8", 0.4e-9, 6e-12}, 1e9}};
  report.passes = {pass};
  const auto add = [&](Activity activity, int of, Nanoseconds duration, std::uint64_t bytes) {
    report.spans.push_back(
        {.activity = activity, .pass = of, .duration = duration, .bytes = bytes});
  };
  add(Activity::kernel, 0, 250'000'000, 1);
  add(Activity::kernel, 0, 250'000'000, 1);
  add(Activity::decode, -1, 6'000'000, 6'000'000);
  add(Activity::encode, -1, 2'000'000, 1'000'000);
  if (kind == "gpu") {
    add(Activity::find_devices, -1, 100'000'000, 0);
    add(Activity::start_device, -1, 200'000'000, 0);
    add(Activity::build_program, 0, 50'000'000, 0);
    add(Activity::upload, -1, 1'000'000, 1'000'000);
    add(Activity::download, -1, 3'000'000, 1'000'000);
  }
  return report;
}

TEST_F(MachineRatesTest, FromTheProcessor) {
  PictureTask task = task_of(2000, 1000);
  task.parallel_encoding = false;
  rates_.learn(task, report_of("processor", "processor"), false);
  EXPECT_DOUBLE_EQ(store_->find(host_place(), "blur 8").value(), 0.5e-9);
  EXPECT_DOUBLE_EQ(store_->find(host_place(), "decode JPEG").value(), 1e-9);
  EXPECT_DOUBLE_EQ(store_->find(host_place(), "encode PNG").value(), 2e-9);
  EXPECT_EQ(rates_.gpu_name(), "a GPU");
}

TEST_F(MachineRatesTest, FromAGpu) {
  rates_.learn(task_of(2000, 1000), report_of("gpu", "A GPU"), false);
  EXPECT_EQ(rates_.gpu_name(), "A GPU");
  EXPECT_EQ(MachineRates(store_, "another vendor").gpu_name(), "a GPU");
  EXPECT_DOUBLE_EQ(store_->find("A GPU, 1", "blur 8").value(), 0.5e-9);
  EXPECT_DOUBLE_EQ(store_->find("A GPU, 1", start_rate.kind).value(), 0.35);
  EXPECT_DOUBLE_EQ(store_->find("A GPU, 1", transfer_rate.kind).value(), 2e-9);
  EXPECT_FALSE(store_->find(host_place(), "blur 8").has_value());
  EXPECT_FALSE(store_->find(host_place(), "encode PNG").has_value()) << "several threads encode";
}

// 50 ms for a program, as it is; then 400 ms for one with literals, which share the difference to
// what was expected.
TEST_F(MachineRatesTest, FromProgramsThatWereCompiled) {
  RunReport report = report_of("gpu", "A GPU");
  report.passes[0].origin = ProgramOrigin::compiled;
  rates_.learn(task_of(2000, 1000), report, false);
  EXPECT_DOUBLE_EQ(store_->find("A GPU, 1", start_rate.kind).value(), 0.3) << "without compiling";
  EXPECT_DOUBLE_EQ(store_->find("A GPU, 1", program_rate.kind).value(), 0.05);
  EXPECT_FALSE(store_->find("A GPU, 1", literal_rate.kind).has_value());

  store_->learn("A GPU, 1", literal_rate.kind, 1e-4);
  report.passes[0].work[0].literals = 1500;
  report.spans.push_back({.activity = Activity::build_program, .pass = 0, .duration = 350'000'000});
  rates_.learn(task_of(2000, 1000), report, false);
  EXPECT_NEAR(store_->find("A GPU, 1", literal_rate.kind).value(), 1e-4 + (2e-4 - 1e-4) / 3, 1e-9);
  EXPECT_NEAR(store_->find("A GPU, 1", program_rate.kind).value(), 0.05 + (0.1 - 0.05) / 3, 1e-9);

  const auto cached = std::make_shared<RateStore>();
  report.passes[0].origin = ProgramOrigin::cached;
  MachineRates(cached, "vendor").learn(task_of(2000, 1000), report, false);
  EXPECT_FALSE(cached->find("A GPU, 1", program_rate.kind).has_value());
}

TEST_F(MachineRatesTest, InAFolderFromDevicesOnly) {
  rates_.learn(task_of(2000, 1000), report_of("processor", "processor"), true);
  EXPECT_FALSE(store_->find(host_place(), "blur 8").has_value());
  rates_.learn(task_of(2000, 1000), report_of("gpu", "A GPU"), true);
  EXPECT_TRUE(store_->find("A GPU, 1", "blur 8").has_value());
  EXPECT_FALSE(store_->find(host_place(), "decode JPEG").has_value());
}

TEST_F(MachineRatesTest, NotFromSmallPicturesNorFromOtherDevices) {
  rates_.learn(task_of(100, 100), report_of("processor", "processor"), false);
  EXPECT_FALSE(store_->find(host_place(), "blur 8").has_value());
  rates_.learn(task_of(2000, 1000), report_of("cpu", "PoCL"), false);
  EXPECT_FALSE(store_->find("PoCL, 1", "blur 8").has_value());
}

// As of "--crop 2000x999+0+1": the first row is decoded, too.
TEST_F(MachineRatesTest, NotFromDecodingOfWhichAPartIsUsed) {
  RunReport report = report_of("processor", "processor");
  for (Span& span : report.spans) {
    if (span.activity == Activity::decode) span.bytes = 5'994'000;
  }
  rates_.learn(task_of(2000, 1000), report, false);
  EXPECT_FALSE(store_->find(host_place(), "decode JPEG").has_value());
  EXPECT_TRUE(store_->find(host_place(), "blur 8").has_value());
}

// As of "--crop 1x1": encoding and moving a few bytes takes as long as opening a file does.
TEST_F(MachineRatesTest, NotFromLittleWorkOnALargePicture) {
  PictureTask task = task_of(2000, 1000);
  task.parallel_encoding = false;
  for (const char* kind : {"processor", "gpu"}) {
    RunReport report = report_of(kind, "A GPU");
    report.passes[0].work[0].operations = 30;
    for (Span& span : report.spans) {
      if (span.activity != Activity::kernel) span.bytes = 999;
    }
    rates_.learn(task, report, false);
  }
  for (const auto& [place, rate] :
       each_of(std::vector<std::string>{host_place(), std::string("A GPU, 1")},
               std::array{"blur 8", "decode JPEG", "encode PNG", "transfer"}))
    EXPECT_FALSE(store_->find(place, rate).has_value()) << place << " " << rate;
  EXPECT_TRUE(store_->find("A GPU, 1", start_rate.kind).has_value());
}

}  // namespace
}  // namespace gpufilter::test
