// Options of formats if a folder's outputs have several formats, or none that takes them.
#include "cli/batch_fixture.hpp"

namespace gpufilter::test {
namespace {

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
  EXPECT_EQ(complaints({"--background", "red", "--to", "jpg"}).find("no effect"),
            std::string::npos);
}

TEST_F(BatchFormats, AFolderWithoutPicturesIsNoReasonToRefuse) {
  expect_one_line(complaints({"--quality", "80"}), {"no picture"});
}

}  // namespace
}  // namespace gpufilter::test
