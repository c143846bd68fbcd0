// Runs that meet the limit on open files.

#include <filesystem>
#include <optional>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "batch/batch_run.hpp"
#include "stages/window/blur.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

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

class FileLimitRunning : public ::testing::Test {
 protected:
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
    const int journal = lowest_free_descriptor();
    listener_.emplace(limit_, journal + 1 + files);
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
