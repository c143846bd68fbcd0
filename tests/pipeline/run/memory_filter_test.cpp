// Chains on pixels in memory: the bits of the reference, and not a byte besides the pixels.
#include "pipeline/run/memory_filter.hpp"

#include <stop_token>

#include "base/log.hpp"
#include "base/stop.hpp"
#include "base/threads.hpp"
#include "codec/codec_table.hpp"
#include "lab/stage_samples.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/execute/host_check.hpp"
#include "pipeline/run/memory_picture.hpp"
#include "pipeline/run/run.hpp"
#include "support/guarded_memory.hpp"
#include "support/instruction_sets.hpp"
#include "support/random_chains.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

using Touching = GuardedRows::Touching;

// The processor, for every picture.
struct ProcessorAlone : Dispatcher {
  ProcessorAlone()
      : Dispatcher({std::make_shared<Engine>(std::vector{gpufilter::processor("for tests")},
                                             EngineOptions{})}) {}
};

Image picture_of(ImageSize size, PixelFormat format, std::uint64_t seed) {
  return format.has_alpha() ? cut_out_image(size, format, seed) : random_image(size, format, seed);
}

// The result of `chain` in guarded memory with gaps between rows; nothing if the chain refuses the
// picture.
std::optional<Image> filtered(MemoryFilter& filter, const Image& picture, std::size_t gap,
                              Touching touching) {
  const GuardedRows source({picture.size(), picture.format()}, gap, touching);
  source.fill(picture.rows());
  std::optional<GuardedRows> target;
  const Limits limits;
  const RunControl control;
  MemoryCall call(limits, control);
  try {
    static_cast<void>(filter.run(
        source.rows(), nullptr,
        [&](const PictureShape& shape) { return target.emplace(shape, gap, touching).rows(); },
        call));
  } catch (const UsageError&) {
    return std::nullopt;
  } catch (const PictureError&) {
    return std::nullopt;
  }
  EXPECT_TRUE(source.gaps_hold());
  EXPECT_TRUE(target->gaps_hold());
  const MutableRows rows = target->rows();
  Image result({rows.width, rows.rows.count()}, rows.format);
  for (int y = 0; y < rows.rows.count(); ++y) {
    std::memcpy(result.rows().row(y), rows.row(y),
                static_cast<std::size_t>(rows.width) * rows.format.bytes_per_pixel());
  }
  return result;
}

// How many pictures the chain took.
int compare_with_reference(const StageChain& chain, ImageSize size, const std::string& text) {
  int taken = 0;
  ProcessorAlone processor;
  MemoryFilter filter(chain, processor);
  for (const PixelFormat format : all_formats()) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, text + ", " + to_string(format));
    const Image picture = picture_of(size, format, 7);
    // Samples of 16 bits begin at even addresses.
    const auto tight = filtered(filter, picture, 0, Touching::end);
    if (!tight) continue;
    ++taken;
    const Image expected = lab::filter_by_baseline(picture, chain);
    EXPECT_TRUE(same_pixels(*tight, expected));
    const auto wide = filtered(filter, picture, 2 * format.bytes_per_sample(), Touching::beginning);
    EXPECT_TRUE(same_pixels(*wide, expected));
  }
  return taken;
}

TEST(MemoryFilter, TouchesOnlyPixelsInEveryStageAndGivesTheReferencesBitsForChains) {
  with_each_instruction_set([] {
    for (const StageKind& kind : stage_catalogue()) {
      if (kind.option == "--encoded") continue;  // goes after --linear
      int taken = 0;
      for (const lab::StageSample& sample : lab::samples_of(kind, false))
        taken += compare_with_reference({sample.stage}, {37, 21}, sample.text);
      EXPECT_GT(taken, 0) << kind.option;
    }
  });
  Chains chains(3);
  for (int i = 0; i < 25; ++i) {
    const StageChain chain = chains.draw(4);
    compare_with_reference(chain, {chains.whole(1, 90), chains.whole(1, 200)}, names(chain));
  }
}

// Stages that need the whole picture, one after another and between others.
TEST(MemoryFilter, GivesTheReferencesBitsForWholePictures) {
  const auto stage = [](const std::string& option, const std::string& value = "") {
    for (const StageKind& kind : stage_catalogue()) {
      if (kind.option == option) return kind.make(value);
    }
    throw UsageError(option);
  };
  const std::vector<StageChain> cases{
      {stage("--rotate", "90")},
      {stage("--rotate", "270"), stage("--flop")},
      {stage("--blur", "auto"), stage("--rotate", "90"), stage("--blur", "auto")},
      {stage("--flip"), stage("--levels", "auto"), stage("--rotate", "180")},
      {stage("--levels", "auto"), stage("--tonemap", "reinhard"), stage("--gray")},
      {stage("--pad", "3"), stage("--trim"), stage("--gaussian", "2")},
      {stage("--trim")},
      {stage("--crop", "50%"), stage("--flip"), stage("--trim"), stage("--rotate", "90")}};
  for (const auto& [chain, size] : each_of(cases, Sizes{{1, 1}, {5, 300}, {211, 97}}))
    compare_with_reference(chain, size, names(chain));
}

TEST(MemoryFilter, WrappedBordersReadTheOppositeSide) {
  for (const int height : {1, 2, 3, 70}) {
    compare_with_reference(
        {make_blur({.border = Border::wrap}), make_blur({.border = Border::wrap}),
         make_blur({.border = Border::mirror})},
        {9, height}, "wrap");
  }
}

// Watched calls divide the picture into other blocks, and count them.
TEST(MemoryFilter, ReportsEveryRowOnce) {
  ProcessorAlone processor;
  const auto blur = make_blur({});
  MemoryFilter filter({blur, blur}, processor);
  const Image picture = random_image({1900, 1000}, {3, 8}, 5);
  std::vector<double> parts;
  RunControl control;
  control.progress = [&](double part) { parts.push_back(part); };
  const Limits limits;
  MemoryCall call(limits, control);
  Image result = poisoned_image(picture.size(), picture.format());
  static_cast<void>(filter.run(
      picture.rows(), nullptr, [&](const PictureShape&) { return result.rows(); }, call));
  EXPECT_TRUE(same_pixels(result, lab::filter_by_baseline(picture, {blur, blur})));
  ASSERT_GT(parts.size(), 3U);
  EXPECT_TRUE(std::is_sorted(parts.begin(), parts.end()));
  EXPECT_GT(parts.front(), 0);
  EXPECT_DOUBLE_EQ(parts.back(), 1);
}

TEST(MemoryFilter, StopsBetweenBlocks) {
  ProcessorAlone processor;
  MemoryFilter filter({make_blur({})}, processor);
  const Image picture = random_image({1900, 1000}, {3, 8}, 5);
  Image result(picture.size(), picture.format());
  std::stop_source stop;
  int calls = 0;
  RunControl control;
  control.stop = stop.get_token();
  control.progress = [&](double) {
    if (++calls == 2) stop.request_stop();
  };
  const Limits one_thread{.threads = 1};
  MemoryCall call(one_thread, control);
  EXPECT_THROW(
      static_cast<void>(filter.run(
          picture.rows(), nullptr, [&](const PictureShape&) { return result.rows(); }, call)),
      Stopped);
  EXPECT_EQ(calls, 2);
}

// A turn and statistics take several walks.
TEST(MemoryFilter, StartsAgainOnTheProcessorAfterADeviceFailed) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const Image picture = random_image({190, 100}, {3, 8}, 5);
  const StageChain blur{make_blur({})};
  const StageChain turned{stage_of("--rotate 90"), make_blur({})};
  log::set_level(log::Level::off);
  for (const StageChain& chain : {blur, turned}) {
    Engine engine({{all_sessions().front()->device(), "the first"}, processor("the last")}, {});
    Dispatcher dispatcher(engine);
    MemoryFilter filter(chain, dispatcher);
    std::vector<double> parts;
    bool failed = false;
    RunControl control;
    control.progress = [&](double part) {
      if (part > 0.5 && !std::exchange(failed, true)) {
        parts.clear();
        throw DeviceError("the device was lost");
      }
      parts.push_back(part);
    };
    const Limits limits;
    MemoryCall call(limits, control);
    Image result;
    const MemoryResult run = filter.run(
        picture.rows(), nullptr,
        [&](const PictureShape& shape) {
          result = poisoned_image(shape.size, shape.format);
          return result.rows();
        },
        call);
    EXPECT_TRUE(failed);
    EXPECT_EQ(run.report.kind, processor_kind);
    EXPECT_TRUE(same_pixels(result, lab::filter_by_baseline(picture, chain)));
    EXPECT_TRUE(std::is_sorted(parts.begin(), parts.end()));
    EXPECT_DOUBLE_EQ(parts.back(), 1);
  }
  log::set_level(log::Level::warn);
}

TEST(MemoryFilter, KnowsTheShapeOfTheResult) {
  ProcessorAlone processor;
  const auto shape_after = [&](const char* words) {
    return MemoryFilter({stage_of(words)}, processor).result_shape({{30, 20}, {4, 8}}, Metadata());
  };
  EXPECT_EQ(shape_after("--rotate 90"), (PictureShape{{20, 30}, {4, 8}}));
  EXPECT_EQ(shape_after("--resize 50%"), (PictureShape{{15, 10}, {4, 8}}));
  EXPECT_EQ(shape_after("--gray"), (PictureShape{{30, 20}, {2, 8}}));
  EXPECT_EQ(shape_after("--depth 16"), (PictureShape{{30, 20}, {4, 16}}));
  EXPECT_THROW(static_cast<void>(shape_after("--trim")), UsageError);
}

// A stopped call computes no more rows than it has begun.

constexpr int width = 16;
constexpr int height = 3000;
// The rows that a pass computes in 10 ms, by StoppingStage's cost.
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
  Image input_ = random_image({width, height}, {3, 8}, 1);
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
  const TemporaryFolder folder;
  const std::string in = folder.path() / "in.png";
  const std::string out = folder.path() / "out.png";
  write_png(input_, in);
  Engine engine({{std::nullopt, "the processor"}}, {});
  {
    const StopScope call(token_);
    EXPECT_THROW(static_cast<void>(filter_picture(in, {out}, {stage_}, engine, {})), Stopped);
  }
  const auto bands = static_cast<int>(allowed_threads()) + 2;
  EXPECT_LE(stage_->rows(), bands * rows_at_once);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().filename(), "in.png");
}

}  // namespace
}  // namespace gpufilter::test
