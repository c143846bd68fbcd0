// Options of formats if a folder's outputs have several formats, or none that takes them.
#include <filesystem>
#include <fstream>

#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class BatchFormats : public BatchTest {
 protected:
  [[nodiscard]] std::string complaints(const std::vector<std::string>& more) const {
    std::vector<std::string> words = more;
    words.insert(words.end(), {"--timing", "off", "--on-exists", "overwrite"});
    const std::string err = good_batch(words).err;
    const std::size_t summary = err.rfind("gpufilter: ");
    return summary == std::string::npos ? "" : err.substr(0, err.find('\n', summary) + 1);
  }
};

TEST_F(BatchFormats, WhatNoOutputTakesIsRefusedBeforeAnyIsWritten) {
  put("a.png");
  put("b.png");
  expect_refusal({"--quality", "80"}, {"--quality: PNG output does not take it"});
  expect_refusal({"--quality", "80", "--dry-run"}, {"--quality: PNG output does not take it"});
  expect_refusal({"--background", "red"}, {"--background: PNG output does not take it"});
  expect_refusal({"--to", "jpg", "--png-level", "3"},
                 {"--png-level: JPEG output does not take it; PNG output does"});
}

TEST_F(BatchFormats, WhatOneOutputTakesIsInOrder) {
  put("a.png");
  put("b.jpg");
  EXPECT_EQ(complaints({"--quality", "80", "--png-level", "1", "--subsampling", "422"}), "");
  EXPECT_EQ(complaints({"--to", "jpg", "--quality", "80"}), "");
}

TEST_F(BatchFormats, ABackgroundThatNoPictureNeedsBringsAWarning) {
  put("a.png");
  put("b.jpg");
  expect_one_line(complaints({"--background", "red"}),
                  {"--background has no effect on any of the 2 pictures"});
  write_png(random_image({9, 7}, {4, 8}, 1), in_ + "/alpha.png");
  // The result of the transparent picture is different.
  EXPECT_FALSE(contains(complaints({"--background", "red", "--to", "jpg"}), "no effect"));
}

TEST_F(BatchFormats, AFolderWithoutPicturesIsNoReasonToRefuse) {
  expect_one_line(complaints({"--quality", "80"}), {"no picture"});
}

// Empty files of their names hide the libraries of formats.
class BatchWithoutLibraries : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    if (!can_write(".tif")) GTEST_SKIP() << "built without TIFF";
    const std::string hidden = folder_ / "hidden";
    fs::create_directory(hidden);
    for (const char* library : {"libtiff.so.6", "libtiff.so.5"})
      std::ofstream(fs::path(hidden) / library);
    without_tiff_.environment["LD_LIBRARY_PATH"] = hidden;
  }

  static bool can_write(const std::string& extension) {
    return codec_of_name("a" + extension) != nullptr;
  }

  ProcessOptions without_tiff_;
};

TEST_F(BatchWithoutLibraries, PicturesOfOtherFormatsAreDone) {
  put("a.png");
  put("b.jpg");
  EXPECT_EQ(batch({}, without_tiff_).exit_code, 0);
  // What is done does not depend on the library either.
  const Files before = everything_in(out_);
  EXPECT_EQ(good_batch({"--resume"}).exit_code, 0);
  EXPECT_EQ(everything_in(out_), before);
}

TEST_F(BatchWithoutLibraries, OnlyPicturesThatNeedThemFail) {
  put("a.png");
  put("b.tif");
  const ProcessResult result = ended(1, batch({"--timing", "off", "-q"}, without_tiff_));
  EXPECT_TRUE(contains(result.err, "b.tif: TIFF"));
  EXPECT_TRUE(fs::exists(out_ + "/a.png"));
  EXPECT_FALSE(fs::exists(out_ + "/b.tif"));
  // With the library, the rest is done.
  const Json rest = json_batch({"--resume"});
  EXPECT_EQ(statuses(rest), (std::vector<std::string>{"unchanged", "done"}));
}

TEST_F(BatchWithoutLibraries, ShardsDoNotNeedThem) {
  put("a.png");
  EXPECT_EQ(batch({"--shard", "0/1"}, without_tiff_).exit_code, 0);
}

}  // namespace
}  // namespace gpufilter::test
