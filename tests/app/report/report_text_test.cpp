// Reports of a run: lines, tables, JSON and CSV.
#include "app/report/report_text.hpp"

#include <nlohmann/json.hpp>

#include "app/report/example_report.hpp"
#include "app/report/report_data.hpp"
#include "app/report/run_reporter.hpp"
#include "stages/window/blur.hpp"

namespace gpufilter::test {
namespace {

std::string line_of(const RunReport& report, int number) {
  std::string text = timing_line(report);
  for (; number > 0; --number)
    text.erase(0, text.find('\n') + 1);
  return text.substr(0, text.find('\n'));
}

TEST(TimingLine, IsThreeLines) {
  EXPECT_EQ(
      timing_line(example_report()),
      "in.png -> out.jpg: 1000x500, RGBA, 8-bit -> RGB, 8-bit; Fast, \"new\" GPU (the first GPU)\n"
      "start device 1.0 | compile blur 30 | load tint 1.0 | decode 4.0 | upload 0.5 | blur tiled "
      "16x16 2.0 | tint naive 1.0 | download 0.2 | encode 51 ms\n"
      "total 100 ms, 5.0 Mpx/s; JPEG, quality 75 (requested), 1.2 kB\n");
}

TEST(TimingLine, NamesQualitiesAndDevices) {
  RunReport report = example_report();
  report.encoding = EncodingNotes{"quality about 80 (estimated from the input)", {}};
  EXPECT_EQ(line_of(report, 2),
            "total 100 ms, 5.0 Mpx/s; JPEG, quality about 80 (estimated from the input), 1.2 kB");
  report.encoding->text = "quality 90 (requested), 4:2:0 (kept from the input)";
  EXPECT_EQ(line_of(report, 2), "total 100 ms, 5.0 Mpx/s; JPEG, quality 90 (requested), 1.2 kB");
  report = example_report();
  report.engine = {};
  report.engine.device = "processor";
  report.engine.reason = "no other device works";
  report.engine.fallbacks = {"GPU: it is broken"};
  EXPECT_TRUE(line_of(report, 0).ends_with(
      "; processor (no other device works; left out: GPU: it is broken)"));
  report = example_report();
  report.engine = {};
  report.engine.reason = "no stage to run";
  EXPECT_TRUE(line_of(report, 0).ends_with("; no device (no stage to run)"));
}

TEST(TimingLine, StaysShortAndMarksFurtherPasses) {
  RunReport report = example_report();
  report.input.assign(1, '-');
  report.output = std::string(300, 'x') + "\n\033[2J.png";
  EXPECT_EQ(line_of(report, 0).substr(0, 88), "standard input -> ..." + std::string(24, 'x') +
                                                  "\\n\\x1b[2J.png: 1000x500, RGBA, 8-bit -> "
                                                  "RGB");
  const std::string text = timing_line(report);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  report = example_report();
  report.spans = {{.activity = Activity::decode, .start = 1'000'000, .duration = 2'000'000},
                  {.activity = Activity::decode, .walk = 1, .start = 9, .duration = 3'000'000},
                  {.activity = Activity::encode, .walk = 1, .start = 9, .duration = 40'000},
                  {.activity = Activity::decode, .walk = 2, .start = 9, .duration = 1'234'000'000}};
  EXPECT_EQ(line_of(report, 1),
            "decode 2.0 | second pass: decode 3.0 | encode 0.04 | third pass: decode 1234 ms");
  EXPECT_EQ(pass_heading(4), "fifth pass");
  EXPECT_EQ(pass_heading(5), "pass 6");
}

TEST(TimingLine, NamesStepsThatTookTime) {
  RunReport report = example_report();
  report.spans = {{.activity = Activity::upload, .start = 1'000'000, .duration = 2'000},
                  {.activity = Activity::decode, .start = 1'000'000, .duration = 2'000'000}};
  EXPECT_EQ(line_of(report, 1), "decode 2.0 ms");
  report = example_report();
  report.passes[0].variant = "channel histograms, counted in 16 copies";
  EXPECT_TRUE(contains(line_of(report, 1), "| blur channel histograms 2.0 |"));
  report = example_report();
  report.spans.resize(1);
  report.size = {10, 10};
  EXPECT_EQ(line_of(report, 2),
            "total 100 ms (100 ms outside these steps); JPEG, quality 75 (requested), 1.2 kB")
      << "and 0.0 Mpx/s says nothing";
}

TEST(TimingLine, NamesWhatTheFilesHold) {
  RunReport report = example_report();
  report.input_file_pixels = {"palette with transparency", 1, 4};
  report.output_file_pixels = {"RGBA", 4, 8};
  EXPECT_EQ(line_of(report, 0).substr(0, 83),
            "in.png -> out.jpg: 1000x500, palette with transparency, 4-bit -> RGBA, 8-bit; Fast,");
  report.input_file_pixels = {"RGBA", 4, 16};
  report.output_file_pixels = {"RGB", 3, 8};
  report.background = Color{0xff, 0xc0, 0};
  const std::string begin =
      "in.png -> out.jpg: 1000x500, RGBA, 16-bit -> RGB, 8-bit (alpha flattened onto #ffc000); "
      "Fast, \"";
  EXPECT_EQ(line_of(report, 0).substr(0, begin.size()), begin);
}

TEST(TimingTable, IsWhatPeopleRead) {
  EXPECT_EQ(timing_table(example_report()),
            "in.png -> out.jpg: 1000x500, RGBA, 8-bit -> RGB, 8-bit; 2 bands of 250 rows\n"
            "device: Fast, \"new\" GPU (gpu)\n"
            "chosen: the first GPU\n"
            "driver: OpenCL 3.0 Maker 1.2, 7.8\n"
            "                         ms        MB     Mpx/s    GB/s\n"
            "start device          1.000\n"
            "build blur           30.000                              compiled\n"
            "build tint            1.000                              from the cache\n"
            "decode                4.000      2.00     125.0    0.50  PNG\n"
            "upload                0.500      2.00    1000.0    4.00\n"
            "blur                  2.000      4.00     250.0    2.00  tiled 16x16 (auto: 1.5 times "
            "as fast)\n"
            "tint                  1.000      4.00     500.0    4.00  naive (requested)\n"
            "download              0.250      1.50    2000.0    6.00\n"
            "encode               51.000      1.50       9.8    0.03  JPEG, 1234 bytes, quality 75 "
            "(requested), 4:2:0 (the default below quality 90)\n"
            "other                 9.250\n"
            "total               100.000                 5.0          from start to end; lines "
            "above may overlap\n");
  RunReport report = example_report();
  report.engine = {};
  report.engine.device = "processor";
  report.engine.kind = "processor";
  report.engine.reason = "no OpenCL device works";
  report.engine.fallbacks = {"GPU: it is broken", "CPU: it is too"};
  EXPECT_TRUE(contains(timing_table(report),
                       "left out: GPU: it is broken\nleft out: CPU: it is too\n"
                       "device: processor (no OpenCL device works)\n      "));
  report = example_report();
  report.bands = 1;
  EXPECT_TRUE(contains(timing_table(report), "; 1 band of 250 rows\n"));
}

TEST(TimingTable, MarksASecondPassAndStrangeNames) {
  RunReport report = example_report();
  report.spans.push_back({.activity = Activity::decode, .walk = 1, .duration = 1'000'000});
  const std::string table = timing_table(report);
  EXPECT_LT(table.find("encode"), table.find("\nsecond pass:\n")) << table;
  EXPECT_LT(table.find("\nsecond pass:\n"), table.rfind("decode")) << table;
  report = example_report();
  report.input = "a\n\033[2J\xff\u00fc.png";
  report.exif_orientation = 3;
  EXPECT_TRUE(
      timing_table(report).starts_with("a\\n\\x1b[2J\\xff\u00fc.png -> out.jpg: 1000x500, RGBA, "
                                       "8-bit -> RGB, 8-bit, EXIF orientation 3 not applied; "))
      << timing_table(report);
}

TEST(TimingJson, SaysTheSameToPrograms) {
  const auto json = nlohmann::json::parse(timing_json(example_report()));
  EXPECT_EQ(json["schema"], "gpufilter-timing-1");
  EXPECT_EQ(json["device"]["name"], "Fast, \"new\" GPU");
  EXPECT_EQ(json["device"]["platform"], "OpenCL 3.0 Maker 1.2  with, a, list");
  EXPECT_EQ(json["exif_orientation"], 1);
  EXPECT_EQ(json["bands_under_way"], 0);
  EXPECT_EQ(json["memory_bytes"], 0);
  EXPECT_EQ(json["passes"].size(), 2);
  EXPECT_EQ(json["passes"][1]["stage"], "tint");
  ASSERT_EQ(json["activities"].size(), 9);
  const auto& kernel = json["activities"][5];
  EXPECT_EQ(kernel["activity"], "kernel");
  EXPECT_EQ(kernel["pass"], 0);
  EXPECT_EQ(kernel["milliseconds"], 2.0);
  EXPECT_EQ(kernel["bytes"], 4'000'000);
  EXPECT_EQ(kernel["megapixels_per_second"], 250.0);
  EXPECT_EQ(kernel["gigabytes_per_second"], 2.0);
  EXPECT_EQ(json["activities"][0]["bytes"], 0) << "starting a device moves no pixels";
  EXPECT_FALSE(json["activities"][0].contains("gigabytes_per_second"));
  EXPECT_EQ(json["jpeg"]["quality"], 75);
  EXPECT_EQ(json["jpeg"]["tables"], "standard");
  EXPECT_EQ(json["jpeg"]["quality_reason"], "requested");
  EXPECT_EQ(json["jpeg"]["subsampling"], "4:2:0");
  EXPECT_EQ(json["jpeg"]["subsampling_reason"], "the default below quality 90");
  EXPECT_EQ(json["other_milliseconds"], 9.25);
  EXPECT_EQ(json["total_milliseconds"], 100.0);
  EXPECT_EQ(json["total_megapixels_per_second"], 5.0);
}

TEST(TimingReports, KnowJpegsAndVerifiedBlocks) {
  RunReport report = example_report();
  report.encoding = std::nullopt;
  report.output_format = &png_codec();
  EXPECT_TRUE(contains(timing_table(report), "  PNG, 1234 bytes\n"));
  EXPECT_TRUE(nlohmann::json::parse(timing_json(report))["jpeg"].is_null());
  EXPECT_TRUE(contains(timing_csv(report), ",encode,,,,,,51.000000,"));
  report = example_report();
  report.encoding = notes_on({{.quality = 92}, "kept from the input", std::nullopt, ""});
  EXPECT_TRUE(contains(timing_table(report),
                       "JPEG, 1234 bytes, own tables, about quality 92 (kept from "
                       "the input)\n"));
  const auto json = nlohmann::json::parse(timing_json(report))["jpeg"];
  EXPECT_EQ(json["tables"], "own");
  EXPECT_EQ(json["quality"], 92);
  EXPECT_FALSE(json.contains("subsampling")) << "the picture is grey";
  report = example_report();
  report.verified_blocks = 16;
  EXPECT_TRUE(contains(
      timing_table(report),
      "\nverified" + std::string(49, ' ') + "16 blocks equal to the processor's baseline\nother "));
  EXPECT_EQ(nlohmann::json::parse(timing_json(report))["verified_blocks"], 16);
  EXPECT_TRUE(timing_csv(report).ends_with(",JPEG,\"RGB, 8-bit\",16\n")) << timing_csv(report);
}

TEST(TimingCsv, HasALineForEveryActivity) {
  const std::string end = ",PNG,\"RGBA, 8-bit\",JPEG,\"RGB, 8-bit\",\n";
  EXPECT_EQ(
      timing_csv(example_report()),
      "device,walk,activity,pass,stage,variant,program,reason,milliseconds,bytes,"
      "megapixels_per_second,gigabytes_per_second,input_format,input_pixels,output_format,"
      "output_pixels,verified_blocks\n"
      "\"Fast, \"\"new\"\" GPU\",0,start device,,,,,,1.000000,,," +
          end +
          "\"Fast, \"\"new\"\" GPU\",0,build program,0,blur,tiled 16x16,compiled,"
          "auto: 1.5 times as fast,30.000000,,," +
          end +
          "\"Fast, \"\"new\"\" GPU\",0,build program,1,tint,naive,cache,requested,1.000000,,," +
          end + "\"Fast, \"\"new\"\" GPU\",0,decode,,,,,,4.000000,2000000,125.000,0.500" + end +
          "\"Fast, \"\"new\"\" GPU\",0,upload,,,,,,0.500000,2000000,1000.000,4.000" + end +
          "\"Fast, \"\"new\"\" GPU\",0,kernel,0,blur,tiled 16x16,compiled,"
          "auto: 1.5 times as fast,2.000000,4000000,250.000,2.000" +
          end +
          "\"Fast, \"\"new\"\" GPU\",0,kernel,1,tint,naive,cache,requested,1.000000,4000000,"
          "500.000,4.000" +
          end + "\"Fast, \"\"new\"\" GPU\",0,download,,,,,,0.250000,1500000,2000.000,6.000" + end +
          "\"Fast, \"\"new\"\" GPU\",0,encode,,,,,\"quality 75 (requested), 4:2:0 (the default "
          "below quality 90)\",51.000000,1500000,9.804,0.029" +
          end + "\"Fast, \"\"new\"\" GPU\",,other,,,,,,9.250000,,," + end +
          "\"Fast, \"\"new\"\" GPU\",,total,,,,,the first GPU,100.000000,,5.000," + end);
}

TEST(TimingJson, HasTheFormatsOfBothFiles) {
  RunReport report = example_report();
  report.input_file_pixels = {"CMYK", 4, 8};
  report.background = Color{1, 2, 255};
  const auto json = nlohmann::json::parse(timing_json(report));
  EXPECT_EQ(json["input_format"], "PNG");
  EXPECT_EQ(json["output_format"], "JPEG");
  EXPECT_EQ(json["input_pixels"],
            (nlohmann::json{{"color", "CMYK"}, {"channels", 4}, {"depth", 8}}));
  EXPECT_EQ(json["output_pixels"],
            (nlohmann::json{{"color", "RGB"}, {"channels", 3}, {"depth", 8}}));
  EXPECT_EQ(json["alpha_laid_over"], "#0102ff");
  report = example_report();
  report.input = "\xff\"\n\\.png";
  EXPECT_TRUE(nlohmann::json::accept(timing_json(report)));
}

TEST(RunReporter, KeepsStandardOutputForResults) {
  const RunReport report = example_report();
  const auto streams = [&](TimingFormat format, const std::string& output) {
    BatchPlan plan;
    plan.is_one_picture = true;
    plan.items.push_back({.input = report.input, .output = output});
    FilterOptions options;
    options.timing = format;
    RunReporter reporter(plan, options, 0, nullptr, nullptr);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const PictureResult result{
        .item = &plan.items.front(), .status = PictureStatus::done, .report = report};
    reporter.finished(result, &report);
    reporter.listed(result);
    reporter.conclude();
    std::string out = ::testing::internal::GetCapturedStdout();
    return std::pair{out, ::testing::internal::GetCapturedStderr()};
  };
  const std::string none;
  EXPECT_EQ(streams(TimingFormat::off, "out.jpg"), std::pair(none, none));
  EXPECT_EQ(streams(TimingFormat::line, "out.jpg"), std::pair(none, timing_line(report)));
  EXPECT_EQ(streams(TimingFormat::table, "out.jpg"), std::pair(none, timing_table(report)));
  EXPECT_EQ(streams(TimingFormat::json, "out.jpg"), std::pair(timing_json(report), none));
  EXPECT_EQ(streams(TimingFormat::csv, "out.jpg"), std::pair(timing_csv(report), none));
  EXPECT_EQ(streams(TimingFormat::json, "-"), std::pair(none, timing_json(report)));
  EXPECT_EQ(streams(TimingFormat::csv, "-"), std::pair(none, timing_csv(report)));
}

using Lines = std::vector<std::string>;

TEST(RunAccount, SaysWhatWasUsedAndWhy) {
  RunReport report = example_report();
  report.bands_under_way = 2;
  report.result_passes = 2;
  report.memory = 12'340'000;
  EXPECT_EQ(run_account(report, StageChain(2, make_blur({}))),
            (Lines{"device: Fast, \"new\" GPU (the first GPU); OpenCL 3.0 Maker 1.2, driver 7.8",
                   "start: start device 1.0 ms, build program 31.0 ms",
                   "plan: 2 stages; 2 bands of 250 rows, 2 at a time in 12.3 MB",
                   "blur: tiled 16x16 (auto: 1.5 times as fast), program compiled",
                   "tint: naive (requested), program from the cache"}));
  report = example_report();
  report.engine = {};
  report.engine.device = "processor";
  report.engine.reason = "requested";
  report.engine.fallbacks = {"GPU: it is broken"};
  report.spans.clear();
  report.passes = {{{"avx2", "the processor"}, "statistics"},
                   {{"avx2", "the processor"}, "levels", 1}};
  report.result_passes = 1;
  report.bands = 1;
  report.bands_under_way = 1;
  EXPECT_EQ(
      run_account(report, StageChain(3, make_blur({}))),
      (Lines{"device: processor (requested)", "left out: GPU: it is broken",
             "plan: 3 stages, merged into 1; 1 band of 250 rows, 1 at a time in 0.0 MB",
             "statistics: avx2 (the processor)", "second pass: levels: avx2 (the processor)"}));
  report = example_report();
  report.passes.clear();
  EXPECT_EQ(run_account(report, StageChain(2, make_blur({}))).back(),
            "plan: 2 stages, which change nothing; 2 bands of 250 rows, 0 at a time in 0.0 MB");
}

PictureResult result_of(const BatchItem& item, PictureStatus status) {
  PictureResult result;
  result.item = &item;
  result.status = status;
  return result;
}

struct BatchReporting : ::testing::Test {
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
  RunReport report = example_report();
  add(PictureStatus::done, &report);
  report.passes[1].variant = "tiled";
  add(PictureStatus::done, &report);
  add(PictureStatus::failed);
  EXPECT_EQ(totals_.pixels, 1'000'000U);
  EXPECT_EQ(totals_.input_bytes, 154U);
  EXPECT_EQ(totals_.output_bytes, 2468U);
  ASSERT_EQ(totals_.devices.size(), 1U);
  EXPECT_EQ(totals_.devices[0].pictures, 2U);
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
  RunReport report = example_report();
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
  RunReport report = example_report();
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
  RunReport report = example_report();
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

TEST_F(BatchReporting, NamesTheShareOfANodesGpusWhateverElseDiffers) {
  RunReport report = example_report();
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
  const RunReport report = example_report();
  add(PictureStatus::done, &report);
  const std::string csv = batch_csv(totals_, 1'000'000);
  EXPECT_TRUE(contains(csv, "\n0,start device,,,,1.000000,,,,\n"));
  EXPECT_TRUE(contains(csv, "\n,total,,,,1.000000,,500.000,,\n"));
}

}  // namespace
}  // namespace gpufilter::test
