// What the rates become after a run.
#include "pipeline/choose/machine_rates.hpp"

#include <gtest/gtest.h>

#include "pipeline/run/run.hpp"
#include "support/picture_tasks.hpp"

namespace gpufilter {
namespace {

using test::task_of;

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
  for (const std::string& place : {host_place(), std::string("A GPU, 1")}) {
    for (const char* rate : {"blur 8", "decode JPEG", "encode PNG", "transfer"})
      EXPECT_FALSE(store_->find(place, rate).has_value()) << place << " " << rate;
  }
  EXPECT_TRUE(store_->find("A GPU, 1", start_rate.kind).has_value());
}

}  // namespace
}  // namespace gpufilter
