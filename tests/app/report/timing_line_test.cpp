#include <algorithm>

#include <gtest/gtest.h>

#include "app/report/example_report.hpp"
#include "app/report/report_text.hpp"

namespace gpufilter {
namespace {

using test::example_report;

std::string line_of(const RunReport& report, int number) {
  std::string text = timing_line(report);
  for (; number > 0; --number)
    text.erase(0, text.find('\n') + 1);
  return text.substr(0, text.find('\n'));
}

TEST(TimingLine, IsThreeLines) {
  EXPECT_EQ(timing_line(example_report()),
            "in.png -> out.jpg: 1000x500, RGBA, 8-bit -> RGB, 8-bit; Fast, \"new\" GPU (the first "
            "GPU)\n"
            "start device 1.0 | compile blur 30 | load tint 1.0 | decode 4.0 | upload 0.5 | blur "
            "tiled 16x16 2.0 | tint naive 1.0 | download 0.2 | encode 51 ms\n"
            "total 100 ms, 5.0 Mpx/s; JPEG, quality 75 (asked for), 1.2 kB\n");
}

TEST(TimingLine, NamesTheQualityOfLossyFormats) {
  RunReport report = example_report();
  report.encoding = EncodingNotes{"quality about 80 (estimated from the input)", {}};
  EXPECT_EQ(line_of(report, 2),
            "total 100 ms, 5.0 Mpx/s; JPEG, quality about 80 (estimated from the input), 1.2 kB");
  report.encoding->text = "quality 90 (asked for), 4:2:0 (kept from the input)";
  EXPECT_EQ(line_of(report, 2), "total 100 ms, 5.0 Mpx/s; JPEG, quality 90 (asked for), 1.2 kB");
}

TEST(TimingLine, NamesWhatWasLeftOut) {
  RunReport report = example_report();
  report.engine = {};
  report.engine.device = "processor";
  report.engine.reason = "no other device works";
  report.engine.fallbacks = {"GPU: it is broken"};
  EXPECT_TRUE(line_of(report, 0).ends_with(
      "; processor (no other device works; left out: GPU: it is broken)"));
}

TEST(TimingLine, SaysWhereNoDeviceWasNeeded) {
  RunReport report = example_report();
  report.engine = {};
  report.engine.reason = "no stage to run";
  EXPECT_TRUE(line_of(report, 0).ends_with("; no device (no stage to run)"));
}

TEST(TimingLine, StaysShortWhateverAFileIsCalled) {
  RunReport report = example_report();
  report.input.assign(1, '-');
  report.output = std::string(300, 'x') + "\n\033[2J.png";
  EXPECT_EQ(line_of(report, 0).substr(0, 88), "standard input -> ..." + std::string(24, 'x') +
                                                  "\\n\\x1b[2J.png: 1000x500, RGBA, 8-bit -> "
                                                  "RGB");
  const std::string text = timing_line(report);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(TimingLine, MarksFurtherPasses) {
  RunReport report = example_report();
  report.spans = {{.activity = Activity::decode, .start = 1'000'000, .duration = 2'000'000},
                  {.activity = Activity::decode, .walk = 1, .start = 9, .duration = 3'000'000},
                  {.activity = Activity::encode, .walk = 1, .start = 9, .duration = 40'000},
                  {.activity = Activity::decode, .walk = 2, .start = 9, .duration = 1'234'000'000}};
  EXPECT_EQ(line_of(report, 1),
            "decode 2.0 | second pass: decode 3.0 | encode 0.04 | third pass: decode 1234 ms");
  EXPECT_EQ(pass_heading(4), "fifth pass");
  EXPECT_EQ(pass_heading(5), "pass 6");
}

TEST(TimingLine, LeavesOutTransfersThatCopyNothing) {
  RunReport report = example_report();
  report.spans = {{.activity = Activity::upload, .start = 1'000'000, .duration = 2'000},
                  {.activity = Activity::decode, .start = 1'000'000, .duration = 2'000'000}};
  EXPECT_EQ(line_of(report, 1), "decode 2.0 ms");
}

TEST(TimingLine, NamesAVariantWithoutItsDetails) {
  RunReport report = example_report();
  report.passes[0].variant = "channel histograms, counted in 16 copies";
  EXPECT_NE(line_of(report, 1).find("| blur channel histograms 2.0 |"), std::string::npos);
}

TEST(TimingLine, NamesTimeThatNoStepAccountsFor) {
  RunReport report = example_report();
  report.spans.resize(1);
  report.size = {10, 10};
  EXPECT_EQ(line_of(report, 2),
            "total 100 ms (100 ms outside these steps); JPEG, quality 75 (asked for), 1.2 kB")
      << "and 0.0 Mpx/s says nothing";
}

TEST(TimingLine, SaysThatAnOrientationIsNotApplied) {
  RunReport report = example_report();
  report.output_file_pixels = report.input_file_pixels;
  report.exif_orientation = 6;
  EXPECT_EQ(line_of(report, 0).substr(0, 73),
            "in.png -> out.jpg: 1000x500, RGBA, 8-bit, EXIF orientation 6 not applied;");
  report.is_oriented = true;
  EXPECT_EQ(line_of(report, 0).substr(0, 68),
            "in.png -> out.jpg: 1000x500, RGBA, 8-bit, EXIF orientation 6 applied");
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
  EXPECT_EQ(line_of(report, 0).substr(0, 90),
            "in.png -> out.jpg: 1000x500, RGBA, 16-bit -> RGB, 8-bit (alpha laid over #ffc000); "
            "Fast, \"");
}

}  // namespace
}  // namespace gpufilter
