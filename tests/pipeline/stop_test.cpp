// A stopped call computes no more rows than it has begun.
#include "base/stop.hpp"

#include <atomic>
#include <filesystem>
#include <stop_token>

#include <gtest/gtest.h>

#include "base/threads.hpp"
#include "codec/codec_table.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/run/run.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

constexpr int width = 16;
constexpr int height = 3000;
// What a pass computes in a hundredth of a second, by the cost that StoppingStage says.
constexpr int rows_at_once = 10;

// Says that a row takes a millisecond, and requests a stop as soon as it is run.
class StoppingStage final : public OneStepStage {
 public:
  explicit StoppingStage(std::stop_source& source) : source_(source) {}
  [[nodiscard]] std::string name() const override { return "stopping"; }
  [[nodiscard]] std::string key() const override { return "stopping"; }
  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {{"stopping", 1e-3 / width, 1e-3 / width}, 1};
  }
  void run(const ConstRows& /*source*/, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    rows_ += target.rows.count();
    source_.request_stop();
  }
  [[nodiscard]] int rows() const { return rows_; }

 private:
  std::stop_source& source_;
  mutable std::atomic<int> rows_ = 0;
};

class StopTest : public ::testing::Test {
 protected:
  std::stop_source source_;
  std::stop_token token_ = source_.get_token();
  std::shared_ptr<const StoppingStage> stage_ = std::make_shared<StoppingStage>(source_);
  Image input_ = test::random_image({width, height}, {3, 8}, 1);
  Image output_{input_.size(), input_.format()};
  Plan plan_ = make_plan({input_.size(), input_.format()}, {stage_}, {});
};

TEST_F(StopTest, EndsAPassAfterAHundredthOfASecond) {
  const StopScope call(token_);
  const ConstRows source = std::as_const(input_).rows();
  EXPECT_THROW(run_on_host(plan_.passes.front(), source, output_.rows()), Stopped);
  EXPECT_EQ(stage_->rows(), rows_at_once);
}

TEST_F(StopTest, CannotEndOtherCalls) {
  run_on_host(plan_.passes.front(), std::as_const(input_).rows(), output_.rows());
  EXPECT_EQ(stage_->rows(), height);
}

TEST_F(StopTest, EndsThePartsOfAllThreads) {
  const ThreadLimit limit(8);
  Timeline timeline;
  const auto executor = make_host_executor(plan_, &timeline);
  const StopScope call(token_);
  EXPECT_THROW(executor->run(std::as_const(input_).rows(), output_.rows()), Stopped);
  EXPECT_GE(stage_->rows(), rows_at_once);
  EXPECT_LE(stage_->rows(), 8 * rows_at_once);
}

TEST_F(StopTest, EndsAFileAndLeavesNoOutput) {
  const test::TemporaryFolder folder;
  const std::string in = folder.path() / "in.png";
  const std::string out = folder.path() / "out.png";
  test::write_png(input_, in);
  Engine engine({{std::nullopt, "the processor"}}, {});
  {
    const StopScope call(token_);
    EXPECT_THROW(static_cast<void>(filter_picture(in, out, nullptr, {stage_}, engine, {})),
                 Stopped);
  }
  const auto bands = static_cast<int>(allowed_threads()) + 2;
  EXPECT_LE(stage_->rows(), bands * rows_at_once);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().filename(), "in.png");
}

}  // namespace
}  // namespace gpufilter
