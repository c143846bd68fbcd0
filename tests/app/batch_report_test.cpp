#include "app/batch_report.hpp"

#include <gtest/gtest.h>

#include "app/example_report.hpp"

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
  }

  const BatchItem item_{.relative = "in.png", .output = "in.png", .bytes = 77};
  BatchTotals totals_;
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
  for (const BatchActivity& line : totals_.activities()) {
    if (line.activity == Activity::kernel) kernels.push_back(line.stage + " " + line.variant);
    EXPECT_EQ(line.pixels, 1'000'000U);
    EXPECT_EQ(line.commands % 2, 0U);
  }
  EXPECT_EQ(kernels, (std::vector<std::string>{"blur tiled 16x16", "tint various"}));
}

TEST_F(BatchReporting, SumsUpInALine) {
  EXPECT_EQ(batch_summary(totals_, 1), "0 pictures done\n");
  const RunReport report = test::example_report();
  add(PictureStatus::done, &report);
  EXPECT_EQ(batch_summary(totals_, 250'000'000), "1 picture done: 0.5 Mpx in 0.25 s, 2.0 Mpx/s\n");
  add(PictureStatus::unchanged);
  add(PictureStatus::exists);
  add(PictureStatus::failed);
  add(PictureStatus::not_begun);
  EXPECT_EQ(batch_summary(totals_, 250'000'000),
            "1 picture done, 1 unchanged, 1 skipped, 1 failed, 1 not begun: 0.5 Mpx in 0.25 s, "
            "2.0 Mpx/s\n");
}

TEST_F(BatchReporting, ATimeWithoutBytesHasNoRate) {
  const RunReport report = test::example_report();
  add(PictureStatus::done, &report);
  const std::string csv = batch_csv(totals_, 1'000'000);
  EXPECT_NE(csv.find("\n0,start device,,,,1.000000,,,\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\n,total,,,,1.000000,,500.000,\n"), std::string::npos) << csv;
}

}  // namespace
}  // namespace gpufilter
