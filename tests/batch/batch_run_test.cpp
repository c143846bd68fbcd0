// Runs over many pictures, and the limit on open files.
#include "batch/batch_run.hpp"

#include <sys/resource.h>

#include "base/threads.hpp"
#include "codec/formats.hpp"
#include "device/device_choice.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;
using Statuses = std::vector<PictureStatus>;

struct Recorder final : BatchListener {
  void finished(const PictureResult& result, const RunReport* report) override {
    EXPECT_EQ(under_way.fetch_add(1), 0) << "two threads at a time";
    EXPECT_EQ(report != nullptr, result.status == PictureStatus::done);
    if (report != nullptr) reasons.insert(report->engine.reason);
    ++finished_count;
    finished_names.push_back(fs::path(result.item->input).filename());
    if (on_finished) on_finished();
    --under_way;
  }
  void advanced(std::uint64_t bytes_under_way) override {
    EXPECT_EQ(under_way.fetch_add(1), 0) << "two threads at a time";
    max_bytes = std::max(max_bytes, bytes_under_way);
    last_bytes = bytes_under_way;
    --under_way;
    if (on_advanced) on_advanced();
  }
  void listed(const PictureResult& result) override {
    results.push_back(result);
    if (on_listed) on_listed();
  }

  std::vector<PictureResult> results;
  std::set<std::string> reasons;
  std::size_t finished_count = 0;
  std::vector<std::string> finished_names;
  std::uint64_t max_bytes = 0;
  std::uint64_t last_bytes = 0;
  std::atomic<int> under_way = 0;
  std::function<void()> on_finished;
  std::function<void()> on_advanced;
  std::function<void()> on_listed;
};

struct BatchRunning : ::testing::Test {
  void SetUp() override { fs::create_directory(in_); }

  void put(int count) const {
    for (int i = 0; i < count; ++i) {
      test::write_png(test::random_image({20 + i % 7, 30}, {3, 8}, static_cast<unsigned>(i)),
                      in_ + "/" + name(i));
    }
  }

  static std::string name(int i) {
    return std::string(1, static_cast<char>('a' + i / 10)) + std::to_string(i % 10) + ".png";
  }

  [[nodiscard]] BatchPlan plan(OnExists on_exists = OnExists::fail) const {
    BatchRequest request;
    request.inputs = {in_};
    request.output = out_;
    request.on_exists = on_exists;
    return make_batch_plan(request);
  }

  static Engines processors(int count) {
    Engines engines;
    for (int i = 0; i < count; ++i) {
      engines.push_back(std::make_shared<Engine>(
          std::vector{processor("number " + std::to_string(i))}, EngineOptions{}));
    }
    return engines;
  }

  static void run(const BatchPlan& plan, const Engines& engines, int jobs, BatchListener& listener,
                  bool stop_on_error = false) {
    BatchOptions options;
    options.jobs = jobs;
    options.stop_on_error = stop_on_error;
    Dispatcher dispatcher(engines);
    run_batch(plan, {make_blur({})}, dispatcher, options, listener);
  }

  static Statuses statuses(const Recorder& recorder) {
    Statuses all;
    for (const PictureResult& result : recorder.results)
      all.push_back(result.status);
    return all;
  }

  test::TemporaryFolder folder_;
  std::string in_ = folder_ / "in";
  std::string out_ = folder_ / "out";
};

// Bytes that this process has read so far by system calls; nothing if the system does not say.
std::optional<std::uint64_t> bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string label;
  std::uint64_t count = 0;
  if (!(file >> label >> count) || label != "rchar:") return std::nullopt;
  return count;
}

// The journal's hash comes from the bytes that the decoder reads.
TEST_F(BatchRunning, ReadsEachInputOnce) {
  if (!bytes_read()) GTEST_SKIP() << "/proc/self/io does not say how much was read";
  const std::string path = in_ + "/" + name(0);
  test::write_png(test::random_image({1000, 700}, {3, 8}, 1), path);
  const std::uint64_t size = fs::file_size(path);
  ASSERT_GT(size, std::uint64_t{2} << 20U) << "random samples cannot be compressed";
  const BatchPlan planned = plan();
  const Engines engines = processors(1);
  Recorder recorder;
  const std::uint64_t before = *bytes_read();
  run(planned, engines, 1, recorder);
  const std::uint64_t read = *bytes_read() - before;
  EXPECT_EQ(statuses(recorder), Statuses{PictureStatus::done});
  EXPECT_GE(read, size);
  EXPECT_LT(read, size + size / 2);
}

TEST_F(BatchRunning, BeginsWithTheLargestAndListsByName) {
  const std::vector<int> heights{10, 40, 20, 30};
  for (int i = 0; i < 4; ++i)
    test::write_png(test::random_image({50, heights[static_cast<std::size_t>(i)]}, {3, 8}, 1),
                    in_ + "/" + name(i));
  for (const bool stop_on_error : {false, true}) {
    Recorder recorder;
    fs::remove_all(out_);
    const BatchPlan planned = plan();
    run(planned, processors(1), 1, recorder, stop_on_error);
    const std::vector<std::string> by_name{name(0), name(1), name(2), name(3)};
    const std::vector<std::string> by_size{name(1), name(3), name(2), name(0)};
    EXPECT_EQ(recorder.finished_names, stop_on_error ? by_name : by_size);
    std::vector<std::string> listed;
    for (const PictureResult& result : recorder.results)
      listed.push_back(fs::path(result.item->input).filename());
    EXPECT_EQ(listed, by_name);
  }
}

// The large picture waits until the threads of a job without pictures may work on it.
TEST_F(BatchRunning, TheLastPictureGetsTheThreadsOfIdleJobs) {
  test::write_png(test::random_image({200, 90}, {3, 8}, 1), in_ + "/large.png");
  test::write_png(test::random_image({20, 10}, {3, 8}, 2), in_ + "/small.png");
  std::atomic<std::size_t> at_small = 1000;
  std::atomic<std::size_t> at_large = 0;
  BatchOptions options;
  options.jobs = 5;  // only two of them have a picture
  options.threads = 8;
  options.before_picture = [&](const BatchItem& item) -> AfterPicture {
    if (item.input.ends_with("small.png")) {
      at_small = allowed_threads();
      return {};
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (allowed_threads() <= at_small && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    at_large = allowed_threads();
    return {};
  };
  Dispatcher dispatcher(processors(1));
  const std::size_t before = allowed_threads();
  Recorder recorder;
  run_batch(plan(), {make_blur({})}, dispatcher, options, recorder);
  EXPECT_EQ(statuses(recorder), (Statuses{PictureStatus::done, PictureStatus::done}));
  EXPECT_EQ(at_small, 7U);
  EXPECT_EQ(at_large, 8U);
  EXPECT_EQ(allowed_threads(), before);
}

TEST_F(BatchRunning, SpreadsPicturesOverAllEngines) {
  put(30);
  Recorder recorder;
  run(plan(), processors(3), 3, recorder);
  EXPECT_EQ(recorder.reasons, (std::set<std::string>{"number 0", "number 1", "number 2"}));
  EXPECT_GT(recorder.max_bytes, 0U);
  EXPECT_EQ(recorder.last_bytes, 0U) << "nothing is in progress any more";
  for (int i = 0; i < 30; ++i) {
    const Image input = test::read_picture(in_ + "/" + name(i));
    EXPECT_TRUE(test::same_pixels(test::read_picture(out_ + "/" + name(i)),
                                  test::filter_on_host(input, {make_blur({})}, {})));
  }
}

// With other devices besides the processor, the files are the same as with the processor alone.
TEST_F(BatchRunning, GivesTheSameBytesOnAnyDevices) {
  put(12);
  Recorder alone;
  run(plan(), processors(1), 1, alone);
  Engines engines = processors(1);
  for (const DeviceInfo& device : discover_devices()) {
    engines.push_back(std::make_shared<Engine>(
        std::vector<DeviceCandidate>{{device, "device " + std::to_string(device.index)}},
        EngineOptions{}));
  }
  if (engines.size() == 1) GTEST_SKIP() << "skipped: no OpenCL device here";
  const std::string first = out_;
  out_ = folder_ / "spread";
  Recorder spread;
  run(plan(), engines, static_cast<int>(engines.size()), spread);
  EXPECT_EQ(spread.reasons.size(), engines.size());
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(test::read_file(out_ + "/" + name(i)), test::read_file(first + "/" + name(i)));
}

TEST_F(BatchRunning, ListsInOrderHoweverManyJobs) {
  put(40);
  for (const int jobs : {1, 2, 7, 64}) {
    Recorder recorder;
    const BatchPlan everything = plan(OnExists::overwrite);
    run(everything, processors(1), jobs, recorder);
    ASSERT_EQ(recorder.results.size(), 40U);
    EXPECT_EQ(recorder.finished_count, 40U);
    for (int i = 0; i < 40; ++i)
      EXPECT_EQ(recorder.results[static_cast<std::size_t>(i)].item->input, in_ + "/" + name(i));
  }
}

TEST_F(BatchRunning, AnExceptionFromAListenerEndsTheRun) {
  put(20);
  Recorder recorder;
  std::size_t finished_before = 0;
  recorder.on_listed = [&] {
    finished_before = recorder.finished_count;
    throw std::runtime_error("nobody reads this");
  };
  EXPECT_THROW(run(plan(), processors(1), 3, recorder, true), std::runtime_error);
  EXPECT_EQ(recorder.results.size(), 1U);
  EXPECT_EQ(recorder.finished_count, finished_before);
}

TEST_F(BatchRunning, NoPictureIsBegunAfterAnExceptionFromAListener) {
  put(20);
  Recorder recorder;
  recorder.on_finished = [] { throw std::runtime_error("nobody reads this"); };
  EXPECT_THROW(run(plan(), processors(1), 1, recorder), std::runtime_error);
  EXPECT_EQ(test::names_in(out_).size(), 2U) << "the journal and a picture";
}

TEST_F(BatchRunning, AnExceptionWhileAPictureAdvancesEndsTheRun) {
  put(3);
  Recorder recorder;
  recorder.on_advanced = [] { throw std::runtime_error("nobody reads this"); };
  EXPECT_THROW(run(plan(), processors(1), 2, recorder), std::runtime_error);
  EXPECT_EQ(recorder.finished_count, 0U);
}

TEST_F(BatchRunning, AnInputThatBecomesAPipeIsNotWaitedFor) {
  put(2);
  const BatchPlan before = plan();
  fs::remove(in_ + "/a0.png");
  ASSERT_EQ(::mkfifo((in_ + "/a0.png").c_str(), 0600), 0);
  Recorder recorder;
  run(before, processors(1), 1, recorder);
  EXPECT_EQ(statuses(recorder), (Statuses{PictureStatus::failed, PictureStatus::done}));
}

TEST_F(BatchRunning, ADeviceThatDoesNotWorkEndsTheRun) {
  put(3);
  Engines engines;
  DeviceInfo broken;
  broken.unusable = "it fails";
  engines.push_back(std::make_shared<Engine>(std::vector<DeviceCandidate>{{broken, "the only one"}},
                                             EngineOptions{}));
  Recorder recorder;
  EXPECT_THROW(run(plan(), engines, 2, recorder), DeviceError);
  EXPECT_EQ(test::names_in(out_), std::vector<std::string>{".gpufilter-journal"});
}

TEST(WorkHash, DependsOnEverythingThatDecidesTheBytesAndNothingElse) {
  const WriteOptions plain;
  const auto hash = [](const StageChain& chain, const Codec& codec, const WriteOptions& options) {
    return to_string(work_hash(chain, codec, options));
  };
  const auto with = [](const WriteOption& option, const char* value) {
    return WriteOptions().set(option, value);
  };
  std::set<std::string> hashes;
  hashes.insert(hash({}, png_codec(), plain));
  hashes.insert(hash({}, jpeg_codec(), plain));
  hashes.insert(hash({make_blur({})}, png_codec(), plain));
  hashes.insert(hash({make_blur({}), make_blur({})}, png_codec(), plain));
  hashes.insert(hash({make_blur({.border = Border::mirror})}, png_codec(), plain));
  hashes.insert(hash({make_blur({.alpha = AlphaMode::independent})}, png_codec(), plain));
  hashes.insert(hash({}, png_codec(), with(png_level_option(), "1")));
  hashes.insert(hash({}, jpeg_codec(), with(background_option(), "#010203")));
  // 90 is the default, but not if the input is a JPEG.
  for (const char* quality : {"11", "90"})
    hashes.insert(hash({}, jpeg_codec(), with(quality_option(), quality)));
  for (const char* chroma : {"444", "422", "420"})
    hashes.insert(hash({}, jpeg_codec(), with(jpeg_subsampling_option(), chroma)));
  hashes.insert(hash({}, jpeg_codec(), with(jpeg_restart_option(), "off")));
  hashes.insert(hash({}, jpeg_codec(), with(jpeg_progressive_option(), "on")));
  EXPECT_EQ(hashes.size(), 15U);
  // Neither kernel variants, nor options of other formats, nor explicit defaults change a bit.
  EXPECT_EQ(hash({make_blur({.variant = BlurVariant::tiled})}, png_codec(), {}),
            hash({make_blur({.variant = BlurVariant::naive})}, png_codec(), {}));
  EXPECT_EQ(hash({}, png_codec(), WriteOptions().set(quality_option(), "11")),
            hash({}, png_codec(), {}));
  EXPECT_EQ(hash({}, png_codec(), WriteOptions().set(png_level_option(), "6")),
            hash({}, png_codec(), {}));
}

// Lowers the limit until its end.
class FileLimit {
 public:
  FileLimit() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~FileLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

  void set(int files) const {
    struct rlimit lower = before_;
    lower.rlim_cur = static_cast<rlim_t>(files);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &lower), 0);
  }

 private:
  struct rlimit before_ {};
};

int lowest_free_descriptor() {
  const int descriptor = ::dup(STDIN_FILENO);
  ::close(descriptor);
  return descriptor;
}

TEST(FileLimits, JobsAreAsManyAsTheirFilesAllow) {
  const FileLimit limit;
  limit.set(500);
  EXPECT_EQ(jobs_within_file_limit(1), 1);
  EXPECT_EQ(jobs_within_file_limit(20), 20);
  limit.set(100);
  EXPECT_LE(jobs_within_file_limit(64), 22);  // 100 files, less those in use, four for each
  EXPECT_GE(jobs_within_file_limit(64), 10);
  limit.set(lowest_free_descriptor() + 2);
  EXPECT_EQ(jobs_within_file_limit(64), 1);
}

// Lowers the limit as soon as a picture is finished.
class LimitingListener final : public BatchListener {
 public:
  LimitingListener(const FileLimit& limit, int files) : limit_(limit), files_(files) {}

  void finished(const PictureResult& result, const RunReport* /*report*/) override {
    limit_.set(files_);
    if (result.status == PictureStatus::done) ++done;
    if (result.status == PictureStatus::failed) failure = result.failure;
  }
  void advanced(std::uint64_t /*bytes_under_way*/) override {}
  void listed(const PictureResult& /*result*/) override { ++listed_count; }

  int done = 0;
  int listed_count = 0;
  std::string failure;

 private:
  const FileLimit& limit_;
  int files_;
};

struct FileLimitRunning : ::testing::Test {
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "in");
    for (int i = 0; i < 12; ++i) {
      test::write_png(test::random_image({30, 200}, {3, 8}, static_cast<unsigned>(i)),
                      folder_ / "in/" + std::to_string(i) + ".png");
    }
  }

  // The files that a single job may open once the first picture is finished.
  void run(int files, int jobs) {
    BatchRequest request;
    request.inputs = {folder_ / "in"};
    request.output = folder_ / "out";
    const BatchPlan plan = make_batch_plan(request);
    listener_.emplace(limit_, lowest_free_descriptor() + 1 + files);
    Engine engine({processor("")}, EngineOptions{});
    Dispatcher dispatcher(engine);
    BatchOptions options;
    options.jobs = jobs;
    run_batch(plan, {make_blur({})}, dispatcher, options, *listener_);
  }

  test::TemporaryFolder folder_;
  FileLimit limit_;
  std::optional<LimitingListener> listener_;
};

TEST_F(FileLimitRunning, FewerJobsFinishAllPictures) {
  run(4, 6);
  EXPECT_EQ(listener_->failure, "");
  EXPECT_EQ(listener_->done, 12);
  EXPECT_EQ(listener_->listed_count, 12);
}

TEST_F(FileLimitRunning, TheOnlyJobFailsIfEvenItsFilesAreTooMany) {
  run(1, 1);
  EXPECT_EQ(listener_->done, 1);
  EXPECT_EQ(listener_->listed_count, 12);
  EXPECT_TRUE(test::contains(listener_->failure, ": too many open files"));
}

}  // namespace
}  // namespace gpufilter
