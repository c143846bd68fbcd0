#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/report/example_report.hpp"
#include "app/report/report_data.hpp"
#include "app/report/report_text.hpp"

namespace gpufilter {
namespace {

PictureResult result_of(const BatchItem& item, PictureStatus status) {
  PictureResult result;
  result.item = &item;
  result.status = status;
  return result;
}

class BatchReporting : public ::testing::Test {
 protected:
  void add(PictureStatus status, const RunReport* report = nullptr) {
    totals_.add(result_of(item_, status), report);
    ++added_;
  }

  // The text that the user sees for everything that was added.
  [[nodiscard]] std::string summary(Nanoseconds elapsed) const {
    BatchPlan plan;
    plan.inputs = {"in"};
    plan.output = "out";
    plan.items.resize(added_);
    return batch_summary(plan, totals_, elapsed);
  }

  const BatchItem item_{.input = "in/in.png", .output = "in.png", .bytes = 77};
  BatchTotals totals_;
  std::size_t added_ = 0;
};

TEST_F(BatchReporting, AddsPicturesUp) {
  RunReport report = test::example_report();
  add(PictureStatus::done, &report);
  report.passes[1].variant = "tiled";
  add(PictureStatus::done, &report);
  add(PictureStatus::failed);
  EXPECT_EQ(totals_.pixels(), 1'000'000U);
  EXPECT_EQ(totals_.input_bytes(), 154U);
  EXPECT_EQ(totals_.output_bytes(), 2468U);
  ASSERT_EQ(totals_.devices().size(), 1U);
  EXPECT_EQ(totals_.devices()[0].pictures, 2U);
  std::vector<std::string> kernels;
  for (const ActivityTotal& line : totals_.activities()) {
    if (line.activity == Activity::kernel) kernels.push_back(line.stage + " " + line.variant);
    EXPECT_EQ(line.pixels, 1'000'000U);
    EXPECT_EQ(line.commands % 2, 0U);
  }
  EXPECT_EQ(kernels, (std::vector<std::string>{"blur tiled 16x16", "tint various"}));
}

TEST_F(BatchReporting, SumsUpInTwoLines) {
  EXPECT_EQ(summary(1), "in -> out: 0 pictures done\n");
  RunReport report = test::example_report();
  report.engine.device = "processor";
  report.engine.reason = "requested";
  add(PictureStatus::done, &report);
  EXPECT_EQ(summary(250'000'000),
            "in -> out: 1 picture done\n"
            "0.25 s, 4.0 pictures/s, 2.0 Mpx/s; device: processor (requested)\n");
  add(PictureStatus::unchanged);
  add(PictureStatus::exists);
  add(PictureStatus::failed);
  add(PictureStatus::not_begun);
  EXPECT_EQ(summary(4'000'000'000),
            "in -> out: 1 of 5 pictures done, 1 failed, 1 unchanged since an earlier run, 1 "
            "skipped (already exists), 1 not begun\n"
            "4.00 s, 4.0 s/picture, 0.1 Mpx/s; device: processor (requested)\n");
}

TEST_F(BatchReporting, NamesEachDeviceOnce) {
  RunReport report = test::example_report();
  for (const char* reason : {"5 ms", "7 ms", "5 ms"}) {
    report.engine.device = "processor";
    report.engine.reason = reason;
    add(PictureStatus::done, &report);
  }
  EXPECT_EQ(summary(1'000'000'000),
            "in -> out: 3 pictures done\n1.00 s, 3.0 pictures/s, 1.5 Mpx/s; device: processor\n");
  report.engine.device = "Fast GPU";
  add(PictureStatus::done, &report);
  EXPECT_NE(
      summary(1'000'000'000).find("; devices: processor (3 pictures), Fast GPU (1 picture)\n"),
      std::string::npos);
  const std::string table = batch_table(totals_, 1'000'000'000);
  EXPECT_EQ(table.rfind("device: processor, 3 pictures\ndriver: OpenCL 3.0 Maker 1.2, 7.8\n"
                        "device: Fast GPU, 1 picture: 5 ms\n",
                        0),
            0U)
      << table;
}

// One processor is listed, whatever was estimated; another driver is another device.
TEST_F(BatchReporting, JsonListsEachDeviceOnce) {
  RunReport report = test::example_report();
  for (const char* reason : {"5 ms estimated", "7 ms estimated", "9 ms estimated"}) {
    report.engine.reason = reason;
    add(PictureStatus::done, &report);
  }
  report.engine.fallbacks = {"GPU: broken"};
  add(PictureStatus::done, &report);
  report.engine.driver = "8.0";
  add(PictureStatus::done, &report);
  const auto devices = nlohmann::json::parse(batch_timing_json(totals_, 1))["devices"];
  ASSERT_EQ(devices.size(), 2U) << devices;
  EXPECT_EQ(devices[0]["pictures"], 4);
  EXPECT_EQ(devices[0]["reason"], "");
  EXPECT_EQ(devices[0]["left_out"], nlohmann::json{"GPU: broken"});
  EXPECT_EQ(devices[1]["pictures"], 1);
  EXPECT_EQ(devices[1]["driver"], "8.0");
}

TEST_F(BatchReporting, CountsVerifiedBlocks) {
  RunReport report = test::example_report();
  add(PictureStatus::done, &report);
  EXPECT_FALSE(nlohmann::json::parse(batch_timing_json(totals_, 1)).contains("verified_blocks"));
  EXPECT_EQ(batch_table(totals_, 1).find("verified"), std::string::npos);
  report.verified_blocks = 16;
  add(PictureStatus::done, &report);
  report.verified_blocks = 5;
  add(PictureStatus::done, &report);
  EXPECT_EQ(nlohmann::json::parse(batch_timing_json(totals_, 1))["verified_blocks"], 21);
  EXPECT_NE(batch_table(totals_, 1)
                .find("\nverified" + std::string(49, ' ') +
                      "21 blocks equal to the processor's baseline\ntotal "),
            std::string::npos)
      << batch_table(totals_, 1);
  const std::string csv = batch_csv(totals_, 1'000'000);
  EXPECT_TRUE(csv.ends_with(",1500.000,,21\n")) << csv;
}

TEST_F(BatchReporting, NamesTheShareOfANodesGpusWhateverElseDiffers) {
  RunReport report = test::example_report();
  report.engine.device = "Fast GPU";
  report.engine.share = "GPU 2 of 4, by SLURM_LOCALID=1";
  for (const char* reason : {"5 ms", "7 ms"}) {
    report.engine.reason = std::string(reason) + "; " + report.engine.share;
    add(PictureStatus::done, &report);
  }
  EXPECT_NE(summary(1'000'000'000).find("; device: Fast GPU (GPU 2 of 4, by SLURM_LOCALID=1)\n"),
            std::string::npos)
      << summary(1'000'000'000);
  report.engine.device = "processor";
  report.engine.share.clear();
  add(PictureStatus::done, &report);
  EXPECT_NE(summary(1'000'000'000)
                .find("; devices: Fast GPU (2 pictures; GPU 2 of 4, by SLURM_LOCALID=1), "
                      "processor (1 picture)\n"),
            std::string::npos)
      << summary(1'000'000'000);
}

TEST_F(BatchReporting, ADryRunSaysWhatItWouldDo) {
  add(PictureStatus::planned);
  add(PictureStatus::planned);
  add(PictureStatus::exists);
  EXPECT_EQ(summary(1), "in -> out: 2 of 3 pictures would be done, 1 skipped (already exists)\n");
}

TEST_F(BatchReporting, NamesAreShownOnOneLine) {
  BatchPlan plan;
  plan.inputs = {"a\nb", "c", "d"};
  plan.output = "\033[2J";
  EXPECT_EQ(batch_summary(plan, totals_, 1),
            "a\\nb and 2 more inputs -> \\x1b[2J: 0 pictures done\n");
}

TEST_F(BatchReporting, ATimeWithoutBytesHasNoRate) {
  const RunReport report = test::example_report();
  add(PictureStatus::done, &report);
  const std::string csv = batch_csv(totals_, 1'000'000);
  EXPECT_NE(csv.find("\n0,start device,,,,1.000000,,,,\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\n,total,,,,1.000000,,500.000,,\n"), std::string::npos) << csv;
}

}  // namespace
}  // namespace gpufilter
