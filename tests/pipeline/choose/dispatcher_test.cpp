// The choice of device for a picture, by estimates.
#include "pipeline/choose/dispatcher.hpp"

#include <future>

#include "base/log.hpp"
#include "base/threads.hpp"
#include "pipeline/run/run.hpp"
#include "support/picture_tasks.hpp"

namespace gpufilter::test {
namespace {

constexpr const char* gpu = "A GPU, driver 1";

class DispatcherTest : public ::testing::Test {
 protected:
  void SetUp() override { log::set_level(log::Level::off); }
  void TearDown() override { log::set_level(log::Level::warn); }

  // --device auto. The engine of its GPU is not ready before `go` is set; then no GPU is found.
  [[nodiscard]] std::unique_ptr<Dispatcher> make_auto(const std::string& vendors = "vendor") {
    const auto find = [this] {
      ++engines_made_;
      const auto candidates = [this](std::size_t) {
        go_.get_future().wait();
        return std::optional(processor("a stand-in for a GPU"));
      };
      return Engines{std::make_shared<Engine>(candidates, EngineOptions{})};
    };
    return std::make_unique<Dispatcher>(processors("the processor"),
                                        MachineRates(store_ptr_, vendors), GpuSearch{find, false});
  }

  // --device all.
  [[nodiscard]] std::unique_ptr<Dispatcher> make_all(std::function<Engines()> find) {
    return std::make_unique<Dispatcher>(processors("the processor"),
                                        MachineRates(store_ptr_, "vendor"),
                                        GpuSearch{std::move(find), true});
  }

  static Engines processors(const std::string& reason) {
    return {std::make_shared<Engine>(std::vector{processor(reason)}, EngineOptions{})};
  }

  // A known GPU that starts in a second.
  void know_gpu(double start = 1) {
    store_.keep_note("GPU of vendor", gpu);
    store_.learn(gpu, start_rate.kind, start);
  }
  void slow_processor() { store_.learn(host_place(), "blur 8", 1e-3); }

  // Whether the processor, which takes 3 s per picture, gets one beside a GPU that needs
  // `gpu_rate` seconds per sample and is ready.
  [[nodiscard]] bool processor_helps_ready_gpu(double gpu_rate) {
    know_gpu();
    store_.learn(host_place(), "blur 8", 2e-6);
    store_.learn(gpu, "blur 8", gpu_rate);
    store_.learn(gpu, transfer_rate.kind, 1e-8);
    const auto fleet = make_auto();
    fleet->expect_folder(1'000'000);
    go_.set_value();
    EXPECT_EQ(name_of(fleet->assign(task_of(1000, 1000))), "the processor") << "the GPU starts";
    fleet->await_starts();
    return name_of(fleet->assign(task_of(1000, 1000))) == "the processor";
  }

  static std::string name_of(const Assignment& assignment) {
    Timeline timeline;
    const PictureShape shape{{4, 4}, {3, 8}};
    const Work work{.input = shape, .chain = lower_chain({make_blur({})}, {.shape = shape})};
    return assignment.engine->prepare(work, timeline).report.reason;
  }

  const std::shared_ptr<RateStore> store_ptr_ = std::make_shared<RateStore>();
  RateStore& store_ = *store_ptr_;
  std::promise<void> go_;
  int engines_made_ = 0;
  const ThreadLimit threads_{2};
};

TEST_F(DispatcherTest, GivesPicturesToGivenEnginesInTurnAndLearns) {
  Engines engines = processors("the first");
  engines.push_back(processors("the second").front());
  Dispatcher given(engines, MachineRates(store_ptr_, "vendor"));
  given.await_choice();
  for (const char* reason : {"the first", "the second", "the first"}) {
    const Assignment assignment = given.assign(task_of(10'000, 10'000));
    EXPECT_EQ(name_of(assignment), reason);
    EXPECT_EQ(assignment.reason, "");
  }
  RunReport report;
  report.engine.kind = "gpu";
  report.engine.device = "A GPU";
  given.completed(task_of(1000, 1000), report);
  EXPECT_EQ(MachineRates(store_ptr_, "vendor").gpu_name(), "A GPU");
  given.conclude();
}

TEST_F(DispatcherTest, ADeviceThatIsMissingIsReported) {
  Dispatcher missing({std::make_shared<Engine>(
      [](std::size_t) -> std::optional<DeviceCandidate> { throw DeviceError("no such device"); },
      EngineOptions{})});
  EXPECT_THROW(missing.await_choice(), DeviceError);
}

TEST_F(DispatcherTest, WithoutVendorsThereIsNoGpu) {
  slow_processor();
  const auto fleet = make_auto("");
  const Assignment assignment = fleet->assign(task_of(10'000, 10'000));
  EXPECT_EQ(engines_made_, 0);
  EXPECT_EQ(name_of(assignment), "the processor");
  EXPECT_TRUE(assignment.reason.ends_with(" ms estimated; no GPU found")) << assignment.reason;
}

TEST_F(DispatcherTest, ASmallPictureStartsNoGpu) {
  const auto fleet = make_auto();
  const Assignment unknown = fleet->assign(task_of(100, 100));
  EXPECT_EQ(name_of(unknown), "the processor");
  expect_parts(unknown.reason, {" ms estimated; a GPU 5", " ms to start"});
  know_gpu();
  const Assignment known = fleet->assign(task_of(100, 100));
  EXPECT_TRUE(contains(known.reason, " ms estimated; A GPU 1"));
  EXPECT_EQ(engines_made_, 0);
}

TEST_F(DispatcherTest, OnePictureWaitsForAGpuThatPays) {
  know_gpu();
  slow_processor();
  const auto fleet = make_auto();
  const Assignment assignment = fleet->assign(task_of(1000, 1000));
  EXPECT_EQ(engines_made_, 1);
  EXPECT_FALSE(assignment.engine->is_ready());
  go_.set_value();
  EXPECT_EQ(name_of(assignment), "a stand-in for a GPU");
  fleet->conclude();
  EXPECT_FALSE(MachineRates(store_ptr_, "vendor").may_have_gpu()) << "the stand-in is no GPU";
  const auto later = make_auto();
  EXPECT_TRUE(contains(later->assign(task_of(1000, 1000)).reason, "no GPU found"));
  EXPECT_EQ(engines_made_, 1);
}

// A GPU that pays only once its programs are compiled: by a run that named it, say.
TEST_F(DispatcherTest, CompilingCountsUntilItWasDone) {
  know_gpu(0.1);
  slow_processor();
  store_.learn(gpu, program_rate.kind, 86'000);
  const PictureTask task = task_of(1000, 1000);
  {
    const auto fleet = make_auto();
    const Assignment assignment = fleet->assign(task);
    EXPECT_EQ(name_of(assignment), "the processor");
    EXPECT_TRUE(contains(assignment.reason, " to start and 86000000 ms to compile"));
  }
  RunReport report;
  report.engine.kind = "gpu";
  report.engine.device = "A GPU";
  report.engine.driver = "driver 1";
  MachineRates(store_ptr_, "vendor").learn(task, report, false);
  const auto fleet = make_auto();
  const Assignment assignment = fleet->assign(task);
  EXPECT_EQ(engines_made_, 1);
  EXPECT_FALSE(contains(assignment.reason, "to compile"));
  PictureTask other = task_of(1000, 1000, {make_blur({}), make_blur({})});
  EXPECT_TRUE(contains(fleet->assign(other).reason, "to compile"));
  other = task;
  other.shape.format = {4, 8};
  EXPECT_TRUE(contains(fleet->assign(other).reason, "to compile"));
  go_.set_value();
}

TEST_F(DispatcherTest, AFolderBeginsOnTheProcessorAndTheGpuJoins) {
  know_gpu();
  store_.learn(host_place(), "blur 8", 5e-7);  // 0.75 s per picture for both threads
  const auto fleet = make_auto();
  fleet->expect_folder(1'000'000);
  const Assignment first = fleet->assign(task_of(1000, 1000));
  EXPECT_EQ(name_of(first), "the processor");
  EXPECT_EQ(engines_made_, 1);
  const Assignment second = fleet->assign(task_of(1000, 1000));
  EXPECT_FALSE(second.engine->is_ready()) << "which ends it sooner, started in a second";
  go_.set_value();
  EXPECT_EQ(name_of(second), "a stand-in for a GPU");
}

// Otherwise a GPU that is slow to compile would stay unused, however often such folders come.
TEST_F(DispatcherTest, APictureOfAFolderCompilesForTheOthers) {
  know_gpu(0.1);
  store_.learn(host_place(), "blur 8", 1e-7);  // 15 s for 100 pictures
  store_.learn(gpu, program_rate.kind, 13);
  const auto fleet = make_auto();
  fleet->expect_folder(100'000);
  const Assignment first = fleet->assign(task_of(1000, 1000));
  EXPECT_EQ(engines_made_, 1);
  EXPECT_EQ(first.reason, "it compiles for the pictures after it");
  EXPECT_EQ(name_of(fleet->assign(task_of(1000, 1000))), "the processor");
  go_.set_value();
  EXPECT_EQ(name_of(first), "a stand-in for a GPU");
  store_.learn(gpu, program_rate.kind, 1000);
  const auto shorter = make_auto();
  shorter->expect_folder(100'000);
  EXPECT_EQ(name_of(shorter->assign(task_of(1000, 1000))), "the processor");
  EXPECT_EQ(engines_made_, 1) << "it would end after the processor";
}

TEST_F(DispatcherTest, NoPictureKeepsTheProcessorUntilTheEnd) {
  know_gpu();
  slow_processor();  // 1500 s per picture
  const auto fleet = make_auto();
  fleet->expect_folder(2000);
  const Assignment first = fleet->assign(task_of(1000, 1000));
  EXPECT_FALSE(first.engine->is_ready());
  go_.set_value();
  EXPECT_EQ(name_of(first), "a stand-in for a GPU");
}

TEST_F(DispatcherTest, TheLastPicturesOfAFolderStartNoGpu) {
  know_gpu();
  store_.learn(host_place(), "blur 8", 1e-7);  // 0.3 s per picture
  const auto fleet = make_auto();
  fleet->expect_folder(2000);
  static_cast<void>(fleet->assign(task_of(1000, 1000)));
  EXPECT_EQ(engines_made_, 0);
  const auto longer = make_auto();
  longer->expect_folder(200'000);
  static_cast<void>(longer->assign(task_of(1000, 1000)));
  EXPECT_EQ(engines_made_, 1);
  go_.set_value();
}

TEST_F(DispatcherTest, WorkIsSharedByWhatIsUnderWay) {
  know_gpu();
  store_.learn(host_place(), "blur 8", 2e-6);   // 6 s per picture for one thread, 3 s for both
  store_.learn(gpu, "blur 8", 2e-6);            // 6 s
  store_.learn(gpu, transfer_rate.kind, 1e-8);  // 0.06 s
  const auto fleet = make_auto();
  fleet->expect_folder(1'000'000);
  go_.set_value();
  std::vector<Assignment> under_way;
  const auto next = [&] {
    under_way.push_back(fleet->assign(task_of(1000, 1000)));
    return name_of(under_way.back()) == "the processor";
  };
  EXPECT_TRUE(next()) << "the processor is idle";
  fleet->await_starts();
  // Twice 3 s of the processor count as 18 s.
  EXPECT_FALSE(next()) << "6 s beside 18";
  EXPECT_FALSE(next()) << "12 s beside 18";
  EXPECT_TRUE(next()) << "18.1 s beside 18";
  under_way.clear();
  EXPECT_TRUE(next()) << "it is idle again";
}

TEST_F(DispatcherTest, AnIdleProcessorHelpsAGpuThatIsLittleFaster) {
  EXPECT_TRUE(processor_helps_ready_gpu(5e-7)) << "3 s beside 1.5 s";
}

TEST_F(DispatcherTest, AnIdleProcessorDoesNotHelpAMuchFasterGpu) {
  EXPECT_FALSE(processor_helps_ready_gpu(1e-7)) << "3 s beside 0.3 s";
}

TEST_F(DispatcherTest, ADamagedStoreIsNoFailure) {
  store_.keep_note("GPU of vendor", "none of the known, ");
  store_.learn("none of the known, ", start_rate.kind, 86'400);
  store_.learn(host_place(), "blur 8", 86'400);
  const auto fleet = make_auto();
  go_.set_value();
  EXPECT_FALSE(fleet->assign(task_of(1000, 1000)).reason.empty());
}

TEST_F(DispatcherTest, AllBeginsAFolderOnTheProcessorAndWaitsForTheSearchAtTheEnd) {
  bool searched = false;
  const auto all = make_all([&] {
    go_.get_future().wait();
    searched = true;
    return Engines();
  });
  all->expect_folder(1000);
  EXPECT_EQ(name_of(all->assign(task_of(10, 10))), "the processor");
  go_.set_value();
  all->await_starts();
  EXPECT_TRUE(searched);
}

TEST_F(DispatcherTest, AllUsesEveryGpuThatItFinds) {
  know_gpu();
  const auto all = make_all([] {
    Engines gpus = processors("the first GPU");
    gpus.push_back(processors("the next GPU").front());
    return gpus;
  });
  all->await_choice();
  all->expect_folder(1'000'000);
  slow_processor();
  std::vector<Assignment> under_way;
  for (const char* name : {"the first GPU", "the next GPU", "the first GPU"}) {
    under_way.push_back(all->assign(task_of(1000, 1000)));
    EXPECT_EQ(name_of(under_way.back()), name);
  }
}

TEST_F(DispatcherTest, AllOfNoGpuIsTheProcessorUnlessThatThrows) {
  const auto none = make_all([] { return Engines(); });
  none->await_choice();
  EXPECT_EQ(name_of(none->assign(task_of(1000, 1000))), "the processor");
  const auto required = make_all([]() -> Engines { throw DeviceError("no GPU found"); });
  EXPECT_THROW(required->await_choice(), DeviceError);
  EXPECT_THROW(static_cast<void>(required->assign(task_of(1000, 1000))), DeviceError);
  required->await_starts();
}

}  // namespace
}  // namespace gpufilter::test
