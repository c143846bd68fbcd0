// The choice of device for a picture, by estimates.
#include "pipeline/fleet.hpp"

#include <future>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/thread_limit.hpp"
#include "pipeline/learning.hpp"
#include "pipeline/run.hpp"
#include "stages/blur.hpp"
#include "stages/levels.hpp"
#include "stages/mlp.hpp"

namespace gpufilter {
namespace {

constexpr const char* gpu = "A GPU, driver 1";

PictureTask task_of(int width, int height, StageChain chain = {make_blur({})}) {
  PictureTask task;
  task.shape = {{width, height}, {3, 8}};
  task.chain = std::move(chain);
  task.decoding = "decode JPEG";
  task.encoding = "encode PNG";
  task.parallel_encoding = true;
  task.file_bytes = 1000;
  return task;
}

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

// ---- Estimates ----

// One operation of any kind takes a second, on either side.
class Estimates : public ::testing::Test {
 protected:
  Estimates() {
    for (const char* place : {"host", "device"}) {
      for (const char* kind :
           {"blur 8", "statistics", "transfer", "look_up_samples 8", "decode JPEG", "encode PNG"}) {
        store_.learn(place, kind, 1);
      }
    }
  }
  RateStore store_;
  const Rates rates_{store_, "host", "device"};
};

TEST_F(Estimates, CountOperationsAndBytes) {
  const TaskTimes times = rates_.times(task_of(5, 2));
  EXPECT_DOUBLE_EQ(times.decode, 30);
  EXPECT_DOUBLE_EQ(times.encode, 30);
  EXPECT_DOUBLE_EQ(times.host_filter, 30);
  EXPECT_DOUBLE_EQ(times.device_filter, 30 + 60) << "a blur, and transfers both ways";
}

TEST_F(Estimates, AStageThatNeedsStatisticsTakesAnotherWalk) {
  const TaskTimes times = rates_.times(task_of(5, 2, {make_blur({}), make_auto_levels(0)}));
  EXPECT_DOUBLE_EQ(times.decode, 60);
  EXPECT_DOUBLE_EQ(times.host_filter, 2 * 30 + 30 + 30) << "blur twice, statistics, look-up";
}

// A program for each walk, and for each window after the first.
TEST_F(Estimates, CompilingTakesProgramsAndLiterals) {
  store_.learn("device", program_kind, 100);
  store_.learn("device", literal_kind, 1);
  const auto compile = [&](StageChain chain) { return rates_.times(task_of(5, 2, chain)).compile; };
  const auto levels = make_levels({1, false}, {9, false});
  EXPECT_DOUBLE_EQ(compile({make_blur({})}), 100);
  EXPECT_DOUBLE_EQ(compile({levels, make_blur({}), levels}), 100) << "in one kernel";
  EXPECT_DOUBLE_EQ(compile({make_blur({}), make_blur({})}), 200);
  EXPECT_DOUBLE_EQ(compile({levels, make_auto_levels(0)}), 200) << "one for the statistics";
  EXPECT_DOUBLE_EQ(compile({mlp({3, 10, 3})}), 100 + 60);
  EXPECT_DOUBLE_EQ(compile({mlp({3, 256, 256, 3})}), 100) << "too wide: its weights are data";
}

TEST(EstimatedTimes, OverlapWithTheCodecs) {
  const TaskTimes times{.decode = 4, .encode = 8, .host_filter = 12, .device_filter = 1};
  EXPECT_DOUBLE_EQ(time_on_host(times, true, 1), 24);
  EXPECT_DOUBLE_EQ(time_on_host(times, true, 4), 6);
  EXPECT_DOUBLE_EQ(time_on_host(times, true, 100), 4) << "decoding takes one thread";
  EXPECT_DOUBLE_EQ(time_on_host(times, false, 100), 8) << "so does encoding";
  EXPECT_DOUBLE_EQ(time_on_device(times, true, 4, 0), 4);
  EXPECT_DOUBLE_EQ(time_on_device(times, true, 4, 10), 12) << "nothing is encoded before";
  EXPECT_DOUBLE_EQ(folder_time_on_host(times, 10, 4), 60);
  // Two pictures while it starts, then one picture every three seconds.
  EXPECT_DOUBLE_EQ(folder_time_with_device(times, 10, 4, 12), 12 + 8 * 3);
  EXPECT_DOUBLE_EQ(folder_time_with_device(times, 2, 4, 60), 12) << "over before it is ready";
  // A device with three seconds per picture takes over half of the work of two threads.
  const TaskTimes slow{.decode = 0, .encode = 0, .host_filter = 6, .device_filter = 3};
  EXPECT_DOUBLE_EQ(folder_time_with_device(slow, 10, 2, 0), 15);
}

// ---- Fleets ----

class FleetTest : public ::testing::Test {
 protected:
  void SetUp() override { log::set_level(log::Level::off); }
  void TearDown() override { log::set_level(log::Level::warn); }

  [[nodiscard]] FleetOptions options(const std::string& vendors) {
    return {.engine = {}, .store = store_ptr_, .vendors = vendors};
  }

  // Its engine, which is not ready before `go` is set. The processor plays the role of a GPU.
  [[nodiscard]] FastestFleet::MakeEngine make_engine() {
    return [this] {
      ++engines_made_;
      return std::make_unique<Engine>(
          [this] {
            go_.get_future().wait();
            return DeviceCandidates({processor("a stand-in for a GPU")});
          },
          EngineOptions{});
    };
  }

  // A known GPU that starts in a second.
  void know_gpu(double start = 1) {
    store_.keep_note("GPU of vendor", gpu);
    store_.learn(gpu, start_kind, start);
  }
  void slow_processor() { store_.learn(host_place(), "blur 8", 1e-3); }

  static std::string name_of(const Assignment& assignment) {
    Timeline timeline;
    return assignment.engine
        ->prepare({{{4, 4}, {3, 8}}, {make_blur({})}, std::nullopt, UINT64_MAX, {}}, timeline)
        .report.reason;
  }

  const std::shared_ptr<RateStore> store_ptr_ = std::make_shared<RateStore>();
  RateStore& store_ = *store_ptr_;
  std::promise<void> go_;
  int engines_made_ = 0;
  const ThreadLimit threads_{2};
};

TEST_F(FleetTest, WithoutVendorsThereIsNoGpu) {
  slow_processor();
  FastestFleet fleet(options(""), make_engine());
  const Assignment assignment = fleet.assign(task_of(10'000, 10'000));
  EXPECT_EQ(engines_made_, 0);
  EXPECT_EQ(name_of(assignment), "the processor");
  EXPECT_TRUE(assignment.reason.ends_with(" ms estimated; no GPU found")) << assignment.reason;
}

TEST_F(FleetTest, ASmallPictureStartsNoGpu) {
  FastestFleet fleet(options("vendor"), make_engine());
  const Assignment unknown = fleet.assign(task_of(100, 100));
  EXPECT_EQ(name_of(unknown), "the processor");
  EXPECT_NE(unknown.reason.find(" ms estimated; a GPU 5"), std::string::npos) << unknown.reason;
  EXPECT_NE(unknown.reason.find(" ms to start"), std::string::npos) << unknown.reason;
  know_gpu();
  const Assignment known = fleet.assign(task_of(100, 100));
  EXPECT_NE(known.reason.find(" ms estimated; A GPU 1"), std::string::npos) << known.reason;
  EXPECT_EQ(engines_made_, 0);
}

TEST_F(FleetTest, OnePictureWaitsForAGpuThatPays) {
  know_gpu();
  slow_processor();
  FastestFleet fleet(options("vendor"), make_engine());
  const Assignment assignment = fleet.assign(task_of(1000, 1000));
  EXPECT_EQ(engines_made_, 1);
  EXPECT_FALSE(assignment.engine->is_ready());
  go_.set_value();
  EXPECT_EQ(name_of(assignment), "a stand-in for a GPU");
  fleet.conclude();
  EXPECT_TRUE(known_without_gpu(store_, "vendor")) << "the stand-in is no GPU";
  FastestFleet later(options("vendor"), make_engine());
  EXPECT_NE(later.assign(task_of(1000, 1000)).reason.find("no GPU found"), std::string::npos);
  EXPECT_EQ(engines_made_, 1);
}

// A GPU that pays only once its programs are compiled: by a run that named it, say.
TEST_F(FleetTest, CompilingCountsUntilItWasDone) {
  know_gpu(0.1);
  slow_processor();
  store_.learn(gpu, program_kind, 86'000);
  const PictureTask task = task_of(1000, 1000);
  {
    FastestFleet fleet(options("vendor"), make_engine());
    const Assignment assignment = fleet.assign(task);
    EXPECT_EQ(name_of(assignment), "the processor");
    EXPECT_NE(assignment.reason.find(" to start and 86000000 ms to compile"), std::string::npos)
        << assignment.reason;
  }
  RunReport report;
  report.engine.kind = "gpu";
  report.engine.device = "A GPU";
  report.engine.driver = "driver 1";
  learn_from(store_, "vendor", task, report, false);
  FastestFleet fleet(options("vendor"), make_engine());
  const Assignment assignment = fleet.assign(task);
  EXPECT_EQ(engines_made_, 1);
  EXPECT_EQ(assignment.reason.find("to compile"), std::string::npos) << assignment.reason;
  PictureTask other = task;
  other.chain.push_back(make_blur({}));
  EXPECT_NE(fleet.assign(other).reason.find("to compile"), std::string::npos);
  other = task;
  other.shape.format = {4, 8};
  EXPECT_NE(fleet.assign(other).reason.find("to compile"), std::string::npos);
  go_.set_value();
}

TEST_F(FleetTest, AFolderBeginsOnTheProcessorAndTheGpuJoins) {
  know_gpu();
  store_.learn(host_place(), "blur 8", 5e-7);  // 0.75 s per picture for both threads
  FastestFleet fleet(options("vendor"), make_engine());
  fleet.expect_folder(1'000'000);
  const Assignment first = fleet.assign(task_of(1000, 1000));
  EXPECT_EQ(name_of(first), "the processor");
  EXPECT_EQ(engines_made_, 1);
  const Assignment second = fleet.assign(task_of(1000, 1000));
  EXPECT_FALSE(second.engine->is_ready()) << "which ends it sooner, started in a second";
  go_.set_value();
  EXPECT_EQ(name_of(second), "a stand-in for a GPU");
}

TEST_F(FleetTest, NoPictureKeepsTheProcessorUntilTheEnd) {
  know_gpu();
  slow_processor();  // 1500 s per picture
  FastestFleet fleet(options("vendor"), make_engine());
  fleet.expect_folder(2000);
  const Assignment first = fleet.assign(task_of(1000, 1000));
  EXPECT_FALSE(first.engine->is_ready());
  go_.set_value();
  EXPECT_EQ(name_of(first), "a stand-in for a GPU");
}

TEST_F(FleetTest, TheLastPicturesOfAFolderStartNoGpu) {
  know_gpu();
  store_.learn(host_place(), "blur 8", 1e-7);  // 0.3 s per picture
  FastestFleet fleet(options("vendor"), make_engine());
  fleet.expect_folder(2000);
  static_cast<void>(fleet.assign(task_of(1000, 1000)));
  EXPECT_EQ(engines_made_, 0);
  FastestFleet longer(options("vendor"), make_engine());
  longer.expect_folder(200'000);
  static_cast<void>(longer.assign(task_of(1000, 1000)));
  EXPECT_EQ(engines_made_, 1);
  go_.set_value();
}

TEST_F(FleetTest, WorkIsSharedByWhatIsUnderWay) {
  know_gpu();
  store_.learn(host_place(), "blur 8", 2e-6);  // 6 s per picture for one thread, 3 s for both
  store_.learn(gpu, "blur 8", 2e-6);           // 6 s
  store_.learn(gpu, transfer_kind, 1e-8);      // 0.06 s
  FastestFleet fleet(options("vendor"), make_engine());
  fleet.expect_folder(1'000'000);
  go_.set_value();
  std::vector<Assignment> under_way;
  const auto next = [&] {
    under_way.push_back(fleet.assign(task_of(1000, 1000)));
    return name_of(under_way.back()) == "the processor";
  };
  EXPECT_TRUE(next()) << "the processor is idle";
  fleet.await_starts();
  // Twice 3 s of the processor count as 18 s.
  EXPECT_FALSE(next()) << "6 s beside 18";
  EXPECT_FALSE(next()) << "12 s beside 18";
  EXPECT_TRUE(next()) << "18.1 s beside 18";
  under_way.clear();
  EXPECT_TRUE(next()) << "it is idle again";
}

TEST_F(FleetTest, ADamagedStoreIsNoFailure) {
  store_.keep_note("GPU of vendor", "none of the known, ");
  store_.learn("none of the known, ", start_kind, 86'400);
  store_.learn(host_place(), "blur 8", 86'400);
  FastestFleet fleet(options("vendor"), make_engine());
  go_.set_value();
  EXPECT_FALSE(fleet.assign(task_of(1000, 1000)).reason.empty());
}

TEST_F(FleetTest, AllOfNoGpuIsTheProcessorUnlessRequired) {
  WholeFleet fleet(
      options("vendor"), [] { return std::vector<DeviceInfo>(); }, false);
  fleet.await_choice();
  EXPECT_EQ(name_of(fleet.assign(task_of(1000, 1000))), "the processor");
  WholeFleet required(
      options("vendor"), [] { return std::vector<DeviceInfo>(); }, true);
  EXPECT_THROW(required.await_choice(), DeviceError);
  EXPECT_THROW(static_cast<void>(required.assign(task_of(1000, 1000))), DeviceError);
}

// ---- Learning ----

TEST(Learning, AMachineWithoutAGpuIsSearchedAgainAfterAWeek) {
  RateStore store;
  keep_without_gpu(store, "vendor");
  EXPECT_TRUE(known_without_gpu(store, "vendor"));
  EXPECT_FALSE(known_without_gpu(store, "another vendor"));
  EXPECT_EQ(gpu_place(store, "vendor"), "");
  for (const char* note : {"none since day 1", "none since day 99999999", "none since day x"}) {
    store.keep_note("GPU of vendor", note);
    EXPECT_FALSE(known_without_gpu(store, "vendor")) << note;
    EXPECT_EQ(gpu_place(store, "vendor"), "") << note;
  }
}

RunReport report_of(const std::string& kind, const std::string& device) {
  RunReport report;
  report.engine.kind = kind;
  report.engine.device = device;
  report.engine.driver = "1";
  PassReport pass;
  pass.stage = "blur";
  pass.work = {{"blur 8", 1e9}};
  report.passes = {pass};
  const auto add = [&](Activity activity, int of, Nanoseconds duration, std::uint64_t bytes) {
    report.spans.push_back(
        {.activity = activity, .pass = of, .duration = duration, .bytes = bytes});
  };
  add(Activity::kernel, 0, 250'000'000, 1);
  add(Activity::kernel, 0, 250'000'000, 1);
  add(Activity::decode, -1, 1'000'000, 1'000'000);
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

TEST(Learning, FromTheProcessor) {
  RateStore store;
  PictureTask task = task_of(2000, 1000);
  task.parallel_encoding = false;
  learn_from(store, "vendor", task, report_of("processor", "processor"), false);
  EXPECT_DOUBLE_EQ(store.find(host_place(), "blur 8").value(), 0.5e-9);
  EXPECT_DOUBLE_EQ(store.find(host_place(), "decode JPEG").value(), 1e-9);
  EXPECT_DOUBLE_EQ(store.find(host_place(), "encode PNG").value(), 2e-9);
  EXPECT_EQ(gpu_place(store, "vendor"), "");
}

TEST(Learning, FromAGpu) {
  RateStore store;
  learn_from(store, "vendor", task_of(2000, 1000), report_of("gpu", "A GPU"), false);
  EXPECT_EQ(gpu_place(store, "vendor"), "A GPU, 1");
  EXPECT_EQ(gpu_place(store, "another vendor"), "");
  EXPECT_DOUBLE_EQ(store.find("A GPU, 1", "blur 8").value(), 0.5e-9);
  EXPECT_DOUBLE_EQ(store.find("A GPU, 1", start_kind).value(), 0.35);
  EXPECT_DOUBLE_EQ(store.find("A GPU, 1", transfer_kind).value(), 2e-9);
  EXPECT_FALSE(store.find(host_place(), "blur 8").has_value());
  EXPECT_FALSE(store.find(host_place(), "encode PNG").has_value()) << "several threads encode";
}

// 50 ms for a program, as it is; then 400 ms for one with literals, which share the difference to
// what was expected.
TEST(Learning, FromProgramsThatWereCompiled) {
  RateStore store;
  RunReport report = report_of("gpu", "A GPU");
  report.passes[0].program = "compiled";
  learn_from(store, "vendor", task_of(2000, 1000), report, false);
  EXPECT_DOUBLE_EQ(store.find("A GPU, 1", start_kind).value(), 0.3) << "without compiling";
  EXPECT_DOUBLE_EQ(store.find("A GPU, 1", program_kind).value(), 0.05);
  EXPECT_FALSE(store.find("A GPU, 1", literal_kind).has_value());

  store.learn("A GPU, 1", literal_kind, 1e-4);
  report.passes[0].work[0].literals = 1500;
  report.spans.push_back({.activity = Activity::build_program, .pass = 0, .duration = 350'000'000});
  learn_from(store, "vendor", task_of(2000, 1000), report, false);
  EXPECT_NEAR(store.find("A GPU, 1", literal_kind).value(), 1e-4 + (2e-4 - 1e-4) / 3, 1e-9);
  EXPECT_NEAR(store.find("A GPU, 1", program_kind).value(), 0.05 + (0.1 - 0.05) / 3, 1e-9);

  RateStore cached;
  report.passes[0].program = "cache";
  learn_from(cached, "vendor", task_of(2000, 1000), report, false);
  EXPECT_FALSE(cached.find("A GPU, 1", program_kind).has_value());
}

TEST(Learning, InAFolderFromDevicesOnly) {
  RateStore store;
  learn_from(store, "vendor", task_of(2000, 1000), report_of("processor", "processor"), true);
  EXPECT_FALSE(store.find(host_place(), "blur 8").has_value());
  learn_from(store, "vendor", task_of(2000, 1000), report_of("gpu", "A GPU"), true);
  EXPECT_TRUE(store.find("A GPU, 1", "blur 8").has_value());
  EXPECT_FALSE(store.find(host_place(), "decode JPEG").has_value());
}

TEST(Learning, NotFromSmallPicturesNorFromOtherDevices) {
  RateStore store;
  learn_from(store, "vendor", task_of(100, 100), report_of("processor", "processor"), false);
  EXPECT_FALSE(store.find(host_place(), "blur 8").has_value());
  learn_from(store, "vendor", task_of(2000, 1000), report_of("cpu", "PoCL"), false);
  EXPECT_FALSE(store.find("PoCL, 1", "blur 8").has_value());
}

}  // namespace
}  // namespace gpufilter
