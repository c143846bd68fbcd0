// --damaged keep, and a JPEG that lacks only its end marker.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "cli/program_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class DamagedTest : public ProgramTest {
 protected:
  void SetUp() override {
    const std::string whole = read_file(stored(image_, "whole.png"));
    write_file(cut_, whole.substr(0, whole.size() / 2));
  }

  const Image image_ = random_image({64, 100}, {3, 8}, 3);
  const std::string cut_ = folder_ / "cut.png";
  const std::string out_ = folder_ / "out.png";
};

TEST_F(DamagedTest, PicturesAreRefusedByDefault) {
  expect_failure(1, {cut_, out_}, {cut_ + ": the file ends too early"});
  expect_failure(1, {cut_, out_, "--damaged", "fail"}, {cut_ + ": the file ends too early"},
                 {.environment = {{"GPUFILTER_DAMAGED", "keep"}}});
  expect_failure(2, {cut_, out_, "--damaged", "maybe"}, {"--damaged: 'maybe'"});
  expect_failure(2, {cut_, out_}, {"GPUFILTER_DAMAGED: 'maybe' is not one of fail, keep"},
                 {.environment = {{"GPUFILTER_DAMAGED", "maybe"}}});
}

TEST_F(DamagedTest, RowsThatAreMissingGetTheBackground) {
  const ProcessResult result =
      ended(0, filter({cut_, out_, "--damaged", "keep", "--background", "#ff0000", "-q"}));
  expect_one_line(result.err, {"gpufilter: warning: " + cut_ +
                               ": the file ends too early: 49 % of its rows are read, the others "
                               "have the background's colour\n"});
  const Image kept = read_picture(out_);
  for (int x = 0; x < 64; ++x) {
    for (int c = 0; c < 3; ++c) {
      EXPECT_EQ(sample_at(kept, x, 40, c), sample_at(image_, x, 40, c));
      EXPECT_EQ(sample_at(kept, x, 60, c), c == 0 ? 255U : 0U);
    }
  }
}

// Stages that need the whole picture first read it twice, and warn once.
TEST_F(DamagedTest, PicturesAreWarnedOfOnce) {
  const ProcessResult result = ended(0, filter({cut_, out_, "--levels", "auto", "-q"},
                                               {.environment = {{"GPUFILTER_DAMAGED", "keep"}}}));
  expect_one_line(result.err, {cut_ + ": the file ends too early: 49 %"});
}

TEST_F(DamagedTest, PicturesOfAFolderAreKeptToo) {
  fs::create_directory(folder_.path() / "in");
  fs::rename(cut_, folder_.path() / "in/cut.png");
  fs::copy_file(folder_.path() / "whole.png", folder_.path() / "in/whole.png");
  write_file(folder_ / "in/none.png", read_file(folder_ / "whole.png").substr(0, 60));
  const ProcessResult result =
      ended(1, filter({folder_ / "in", folder_ / "out", "--damaged", "keep"}));
  EXPECT_TRUE(
      contains(result.err, "in/cut.png: the file ends too early: 49 % of its rows are read"));
  EXPECT_TRUE(contains(result.err, "in/none.png: the file ends too early"));
  EXPECT_TRUE(fs::exists(folder_.path() / "out/cut.png"));
  EXPECT_TRUE(fs::exists(folder_.path() / "out/whole.png"));
  EXPECT_FALSE(fs::exists(folder_.path() / "out/none.png"));
}

TEST_F(DamagedTest, PicturesAreNeverReplacedByAPartOfThem) {
  expect_failure(2, {cut_, "--in-place", "--damaged", "keep"},
                 {"--damaged keep with --in-place would replace damaged pictures"});
  expect_failure(1, {cut_, "--in-place"}, {cut_ + ": the file ends too early"},
                 {.environment = {{"GPUFILTER_DAMAGED", "keep"}}});
}

TEST_F(DamagedTest, JpegsThatCouldBeCopiedAreDecoded) {
  const std::string jpeg = folder_ / "whole.jpg";
  filter_quietly({folder_ / "whole.png", jpeg});
  const std::string cut = folder_ / "cut.jpg";
  const std::string bytes = read_file(jpeg);
  write_file(cut, bytes.substr(0, bytes.size() / 2));
  const std::string out = folder_ / "out.jpg";
  const ProcessResult result = ended(0, filter({cut, out, "--damaged", "keep", "-q"}));
  expect_one_line(result.err, {cut + ": the file ends too early: 4"});
  EXPECT_EQ(read_picture(out).size(), image_.size());
}

TEST_F(DamagedTest, AJpegThatLacksOnlyItsEndMarkerIsWhole) {
  const std::string in = GPUFILTER_SOURCE "/tests/cases/jpeg-without-eoi.jpg";
  const std::string warning =
      "gpufilter: warning: " + in + ": its end marker is missing; the picture is complete\n";
  write_file(folder_ / "with-eoi.jpg", read_file(in) + "\xff\xd9");
  filter_quietly({folder_ / "with-eoi.jpg", out_});
  const Image whole = read_picture(out_);
  for (const char* device : {"cpu", "opencl"}) {
    if (std::string(device) == "opencl" && !has_device()) continue;
    for (const char* name : {"a.png", "a.jpg"}) {
      const std::string out = folder_ / name;
      const ProcessResult result = ended(
          0, filter({in, out, "--device", device, "--timing", "off", "--on-exists", "overwrite"}));
      EXPECT_EQ(result.err, warning);
    }
    EXPECT_TRUE(same_pixels(read_picture(folder_ / "a.png"), whole));
    EXPECT_EQ(read_file(folder_ / "a.jpg"), read_file(in)) << "a copy, as it is";
  }
}

}  // namespace
}  // namespace gpufilter::test
