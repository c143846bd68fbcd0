#include "html/page_folder.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/names_in.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter::html {
namespace {

namespace fs = std::filesystem;

class PageFolders : public ::testing::Test {
 protected:
  // Writes a page with one preview.
  void write(const std::string& text, EarlierPage earlier = EarlierPage::replaced) const {
    PageFolder folder(page_, earlier);
    test::write_file(folder.preview_path("1-after.jpg"), text);
    folder.write_page(text + ": " + folder.preview_address("1-after.jpg"));
  }

  void expect_refusal(EarlierPage earlier, const std::string& reason) const {
    EXPECT_EQ(test::objection_to([&] { const PageFolder folder(page_, earlier); }),
              page_ + ": " + reason);
  }

  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(page_))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  }

  test::TemporaryFolder folder_;
  std::string page_ = folder_ / "new/report";
};

TEST_F(PageFolders, AreCreatedAndHoldThePreviewThatThePageNames) {
  write("first");
  const std::string page = test::read_file(page_ + "/index.html");
  ASSERT_EQ(page.substr(0, 7), "first: ");
  EXPECT_EQ(test::read_file(page_ + "/" + page.substr(7)), "first");
  EXPECT_EQ(files(), 3U) << "the mark, the page, the preview";
}

TEST_F(PageFolders, AnEarlierPageIsReplacedWithItsPreviews) {
  write("first");
  // As another process would have named it.
  const std::string old = page_ + "/previews-0123456789abcdef";
  fs::create_directory(old);
  test::write_file(old + "/1-after.jpg", "old");
  write("second");
  EXPECT_EQ(test::read_file(page_ + "/index.html").substr(0, 6), "second");
  EXPECT_FALSE(fs::exists(old));
  EXPECT_EQ(files(), 3U);
}

TEST_F(PageFolders, WhatElseTheyHoldIsLeftAlone) {
  write("first");
  fs::create_directory(page_ + "/previews-of-mine");
  test::write_file(page_ + "/previews-of-mine/1.jpg", "mine");
  fs::create_directory(page_ + "/previews-0123456789abcdef");
  test::write_file(page_ + "/previews-0123456789abcdef/notes.txt", "mine");
  test::write_file(page_ + "/notes.txt", "mine");
  write("second");
  EXPECT_EQ(test::read_file(page_ + "/notes.txt"), "mine");
  EXPECT_EQ(test::read_file(page_ + "/previews-of-mine/1.jpg"), "mine");
  EXPECT_EQ(test::read_file(page_ + "/previews-0123456789abcdef/notes.txt"), "mine");
}

TEST_F(PageFolders, AnEarlierPageCanBeKept) {
  write("first");
  expect_refusal(EarlierPage::refused, "already holds a report; --on-exists overwrite replaces it");
  EXPECT_EQ(test::read_file(page_ + "/index.html").substr(0, 5), "first");
}

TEST_F(PageFolders, AFolderWithOtherFilesIsRefused) {
  fs::create_directories(page_);
  test::write_file(page_ + "/photo.jpg", "mine");
  expect_refusal(EarlierPage::replaced, "holds other files; give --report a new or empty folder");
  EXPECT_EQ(test::names_in(page_), (std::vector<std::string>{"photo.jpg"}));
}

TEST_F(PageFolders, AFileIsRefused) {
  fs::create_directories(fs::path(page_).parent_path());
  test::write_file(page_, "mine");
  expect_refusal(EarlierPage::replaced, "is not a folder; --report takes one");
}

TEST_F(PageFolders, TwoProcessesDoNotWriteOnePage) {
  const PageFolder first(page_, EarlierPage::replaced);
  expect_refusal(EarlierPage::replaced,
                 "another process is writing a report there; give --report another folder");
}

TEST_F(PageFolders, WithoutAPageNothingIsLeft) {
  {
    const PageFolder folder(page_, EarlierPage::replaced);
    test::write_file(folder.preview_path("1-after.jpg"), "x");
  }
  EXPECT_FALSE(fs::exists(page_));
  write("first");
  { const PageFolder folder(page_, EarlierPage::replaced); }
  EXPECT_EQ(test::read_file(page_ + "/index.html").substr(0, 5), "first");
}

TEST_F(PageFolders, WhatAKilledRunLeftIsNoPage) {
  for (const bool writes : {false, true}) {
    const std::string left = page_ + "/previews-0123456789abcdef";
    fs::create_directories(left);
    test::write_file(page_ + "/.gpufilter-report", "mark");
    test::write_file(left + "/1-after.jpg", "left");
    if (writes) {
      write("whole", EarlierPage::refused);
      EXPECT_FALSE(fs::exists(left));
      EXPECT_EQ(files(), 3U);
    } else {
      { const PageFolder folder(page_, EarlierPage::refused); }
      EXPECT_FALSE(fs::exists(page_));
    }
  }
}

TEST_F(PageFolders, SayWhyTheyCannotBeCreated) {
  EXPECT_EQ(test::objection_to<PictureError>(
                [&] { const PageFolder folder("/proc/report", EarlierPage::replaced); }),
            "/proc/report: no such file");
}

}  // namespace
}  // namespace gpufilter::html
