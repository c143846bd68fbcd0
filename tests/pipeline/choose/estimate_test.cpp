// How long a picture is expected to take, from rates.
#include "pipeline/choose/estimate.hpp"

#include <gtest/gtest.h>

#include "net/pixel/mlp.hpp"
#include "stages/point/lookup.hpp"
#include "support/picture_tasks.hpp"

namespace gpufilter {
namespace {

using test::task_of;

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

}  // namespace
}  // namespace gpufilter
