#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/report/example_report.hpp"
#include "app/report/report_data.hpp"
#include "app/report/report_text.hpp"
#include "app/report/run_reporter.hpp"

namespace gpufilter {
namespace {

using test::example_report;

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
            "tint                  1.000      4.00     500.0    4.00  naive (asked for)\n"
            "download              0.250      1.50    2000.0    6.00\n"
            "encode               51.000      1.50       9.8    0.03  JPEG, 1234 bytes, quality 75 "
            "(asked for), 4:2:0 (the default below quality 90)\n"
            "other                 9.250\n"
            "total               100.000                 5.0          from start to end; lines "
            "above may overlap\n");
}

TEST(TimingTable, NamesWhatWasLeftOut) {
  RunReport report = example_report();
  report.engine = {};
  report.engine.device = "processor";
  report.engine.kind = "processor";
  report.engine.reason = "no OpenCL device works";
  report.engine.fallbacks = {"GPU: it is broken", "CPU: it is too"};
  const std::string table = timing_table(report);
  EXPECT_NE(table.find("left out: GPU: it is broken\nleft out: CPU: it is too\n"
                       "device: processor (no OpenCL device works)\n      "),
            std::string::npos)
      << table;
}

TEST(TimingTable, KnowsASingleBand) {
  RunReport report = example_report();
  report.bands = 1;
  EXPECT_NE(timing_table(report).find("; 1 band of 250 rows\n"), std::string::npos);
}

TEST(TimingTable, MarksASecondPass) {
  RunReport report = example_report();
  report.spans.push_back({.activity = Activity::decode, .walk = 1, .duration = 1'000'000});
  const std::string table = timing_table(report);
  EXPECT_LT(table.find("encode"), table.find("\nsecond pass:\n")) << table;
  EXPECT_LT(table.find("\nsecond pass:\n"), table.rfind("decode")) << table;
}

TEST(TimingTable, ShowsStrangeNamesEscaped) {
  RunReport report = example_report();
  report.input = "a\n\033[2J\xff\u00fc.png";
  report.exif_orientation = 3;
  EXPECT_EQ(timing_table(report).rfind("a\\n\\x1b[2J\\xff\u00fc.png -> out.jpg: 1000x500, RGBA, "
                                       "8-bit -> RGB, 8-bit, EXIF orientation 3 not applied; ",
                                       0),
            0)
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
  EXPECT_EQ(json["jpeg"]["quality_reason"], "asked for");
  EXPECT_EQ(json["jpeg"]["subsampling"], "4:2:0");
  EXPECT_EQ(json["jpeg"]["subsampling_reason"], "the default below quality 90");
  EXPECT_EQ(json["other_milliseconds"], 9.25);
  EXPECT_EQ(json["total_milliseconds"], 100.0);
  EXPECT_EQ(json["total_megapixels_per_second"], 5.0);
}

TEST(TimingReports, AreSilentAboutJpegWhereThereIsNone) {
  RunReport report = example_report();
  report.encoding = std::nullopt;
  report.output_format = &png_codec();
  EXPECT_NE(timing_table(report).find("  PNG, 1234 bytes\n"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(timing_json(report))["jpeg"].is_null());
  EXPECT_NE(timing_csv(report).find(",encode,,,,,,51.000000,"), std::string::npos);
}

TEST(TimingReports, TellTablesThatAreNotOfAQuality) {
  RunReport report = example_report();
  report.encoding = notes_on({{.quality = 92}, "kept from the input", std::nullopt, ""});
  EXPECT_NE(timing_table(report).find("JPEG, 1234 bytes, own tables, about quality 92 (kept from "
                                      "the input)\n"),
            std::string::npos);
  const auto json = nlohmann::json::parse(timing_json(report))["jpeg"];
  EXPECT_EQ(json["tables"], "own");
  EXPECT_EQ(json["quality"], 92);
  EXPECT_FALSE(json.contains("subsampling")) << "the picture is grey";
}

TEST(TimingJson, IsValidWhateverAFileIsCalled) {
  RunReport report = example_report();
  report.input = "\xff\"\n\\.png";
  EXPECT_TRUE(nlohmann::json::accept(timing_json(report)));
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
          "\"Fast, \"\"new\"\" GPU\",0,build program,1,tint,naive,cache,asked for,1.000000,,," +
          end + "\"Fast, \"\"new\"\" GPU\",0,decode,,,,,,4.000000,2000000,125.000,0.500" + end +
          "\"Fast, \"\"new\"\" GPU\",0,upload,,,,,,0.500000,2000000,1000.000,4.000" + end +
          "\"Fast, \"\"new\"\" GPU\",0,kernel,0,blur,tiled 16x16,compiled,"
          "auto: 1.5 times as fast,2.000000,4000000,250.000,2.000" +
          end +
          "\"Fast, \"\"new\"\" GPU\",0,kernel,1,tint,naive,cache,asked for,1.000000,4000000,"
          "500.000,4.000" +
          end + "\"Fast, \"\"new\"\" GPU\",0,download,,,,,,0.250000,1500000,2000.000,6.000" + end +
          "\"Fast, \"\"new\"\" GPU\",0,encode,,,,,\"quality 75 (asked for), 4:2:0 (the default "
          "below quality 90)\",51.000000,1500000,9.804,0.029" +
          end + "\"Fast, \"\"new\"\" GPU\",,other,,,,,,9.250000,,," + end +
          "\"Fast, \"\"new\"\" GPU\",,total,,,,,the first GPU,100.000000,,5.000," + end);
}

TEST(TimingReports, CountVerifiedBlocks) {
  RunReport report = example_report();
  report.verified_blocks = 16;
  EXPECT_NE(timing_table(report).find("\nverified" + std::string(49, ' ') +
                                      "16 blocks equal to the processor's baseline\nother "),
            std::string::npos)
      << timing_table(report);
  EXPECT_EQ(nlohmann::json::parse(timing_json(report))["verified_blocks"], 16);
  EXPECT_TRUE(timing_csv(report).ends_with(",JPEG,\"RGB, 8-bit\",16\n")) << timing_csv(report);
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
    reporter.ended({.item = &plan.items.front(), .status = PictureStatus::done, .report = report},
                   &report);
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

}  // namespace
}  // namespace gpufilter
