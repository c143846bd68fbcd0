// Pages as text; tests/cli/batch_report_test.cpp opens them in a browser.
#include "html/page.hpp"

#include <regex>

#include "html/page_folder.hpp"
#include "support/document_checks.hpp"

namespace gpufilter::html {
namespace {

using test::count_of;

const std::string hostile = "<script>alert(1)</script>\"'&\n\x1b[31m\xff.png";
const std::string shown = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;'&amp;\\n\\x1b[31m\\xff.png";

Side side(const std::string& label, ImageSize size = {320, 200}) {
  return {label, "previews-1/" + label + ".jpg", size, "<svg></svg>"};
}

Entry entry(const std::string& name, const std::string& status = "done") {
  Entry made;
  made.name = name;
  made.status = status;
  made.tone = status == "failed" ? Tone::bad : Tone::good;
  if (status != "failed") {
    made.before = side("Before");
    made.after = side("After");
  }
  return made;
}

Page grid(std::vector<Entry> entries) {
  Page page;
  page.subject = "subject";
  page.heading = "heading";
  page.is_grid = true;
  page.entries = std::move(entries);
  page.command = "gpufilter in out";
  page.folder = "/home";
  page.time = "today";
  return page;
}

// The names of open elements that `html` closes wrongly or not at all; empty if there are none.
std::string unbalanced(const std::string& html) {
  static const std::set<std::string> empty_elements{"meta", "link", "img", "input"};
  static const std::regex tag("<(/?)([a-z0-9]+)[^>]*?(/?)>");
  std::vector<std::string> open;
  const std::size_t body = html.find("<body>");
  const std::size_t script = html.rfind("<script>");
  for (std::sregex_iterator it(html.begin() + static_cast<std::ptrdiff_t>(body),
                               html.begin() + static_cast<std::ptrdiff_t>(script), tag),
       end;
       it != end; ++it) {
    const std::string name = (*it)[2];
    if (empty_elements.count(name) > 0 || (*it)[3].length() > 0) continue;
    if ((*it)[1].length() == 0) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return name;
    } else {
      open.pop_back();
    }
  }
  return open == std::vector<std::string>{"body"} ? "" : "left open";
}

TEST(Pages, ShowEveryTextLiterallyAndLoadNothing) {
  Entry bad = entry(hostile, hostile);
  bad.note = bad.message = bad.difference_text = hostile;
  bad.facts = {{hostile, hostile}};
  bad.before->label = hostile;
  Page page = grid({bad});
  page.subject = page.heading = page.command = page.folder = page.time = hostile;
  page.summary = {hostile};
  page.sections = {{hostile, "", hostile, {{hostile, hostile}}, {{hostile}, {{hostile}}}, hostile}};
  for (const bool is_grid : {true, false}) {
    page.is_grid = is_grid;
    const std::string html = to_html(page);
    EXPECT_FALSE(test::contains(html, "<script>alert"));
    EXPECT_EQ(html.find('\x1b'), std::string::npos);
    EXPECT_EQ(html.find('\xff'), std::string::npos);
    EXPECT_EQ(count_of(html, "<script>"), 1U) << "the page's own";
    EXPECT_GE(count_of(html, shown), is_grid ? 20U : 14U);
    EXPECT_EQ(unbalanced(html), "");
  }
  const std::string html = to_html(grid({entry("a.png"), entry("b.png", "failed")}));
  static const std::regex address("(?:src|href|url)(?:=\"|\\(\"?)([^\"')]*)");
  for (std::sregex_iterator it(html.begin(), html.end(), address), end; it != end; ++it) {
    const std::string target = (*it)[1];
    EXPECT_TRUE(target.starts_with("previews-1/") || target.starts_with("data:") ||
                target.starts_with("#"))
        << target;
  }
  EXPECT_EQ(count_of(html, "@import"), 0U);
  EXPECT_EQ(count_of(html, "default-src 'none'"), 1U);
  EXPECT_EQ(count_of(html, "prefers-color-scheme:dark"), 2U) << "the page and its charts";
}

TEST(Pages, AGridHasACardAndAFilterForEachStatus) {
  const std::string html =
      to_html(grid({entry("a.png"), entry("b.png", "failed"), entry("c.png")}));
  EXPECT_EQ(count_of(html, "<li class=\"card "), 3U);
  EXPECT_EQ(count_of(html, "<template>"), 3U);
  EXPECT_EQ(count_of(html, "loading=\"lazy\""), 2U) << "failed pictures have no thumbnail";
  for (const char* text : {"aria-pressed=\"true\">all 3<", "aria-pressed=\"false\">done 2<",
                           "aria-pressed=\"false\">failed 1<", "id=\"p3\" data-status=\"done\""}) {
    EXPECT_EQ(count_of(html, text), 1U) << text;
  }
  EXPECT_EQ(count_of(html, "value=\"time\""), 0U) << "no entry has a time";
  Entry timed = entry("a.png");
  timed.milliseconds = 12.5;
  const std::string timed_html = to_html(grid({timed}));
  EXPECT_EQ(count_of(timed_html, "value=\"time\""), 1U);
  EXPECT_EQ(count_of(timed_html, "data-time=\"12.5\""), 1U);
}

TEST(Pages, PicturesHaveASliderAndADescription) {
  Entry same = entry("a.png");
  EXPECT_EQ(count_of(detail_markup(same), "type=\"range\""), 1U);
  EXPECT_EQ(count_of(detail_markup(same), "data-mode=\"difference\""), 0U);
  same.difference = "previews-1/d.jpg";
  EXPECT_EQ(count_of(detail_markup(same), "data-mode=\"difference\""), 1U);

  Entry resized = entry("a.png");
  resized.after = side("After", {161, 100});  // half the size, rounded
  EXPECT_EQ(count_of(detail_markup(resized), "type=\"range\""), 1U);

  Entry cropped = entry("a.png");
  cropped.after = side("After", {200, 200});
  EXPECT_EQ(count_of(detail_markup(cropped), "type=\"range\""), 0U);
  EXPECT_EQ(count_of(detail_markup(cropped), "class=\"viewer\" data-mode=\"side\""), 1U);

  Entry alone = entry("a.png");
  alone.before.reset();
  EXPECT_EQ(count_of(detail_markup(alone), "<button"), 0U);
  EXPECT_EQ(count_of(detail_markup(alone), "<img"), 1U);
  Entry one = entry("a.png");
  one.difference = "previews-1/d.jpg";
  const std::string html = detail_markup(one);
  for (const char* text :
       {"alt=\"Before: a.png\"", "alt=\"After: a.png\"", "alt=\"Difference: a.png\"",
        "aria-label=\"Divider between Before on the left and After on the "
        "right\"",
        "aria-valuetext=\"50 % Before, 50 % After\""}) {
    EXPECT_EQ(count_of(html, text), 1U) << text;
  }
}

namespace fs = std::filesystem;

struct PageFolders : ::testing::Test {
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
  write("first");
  expect_refusal(EarlierPage::refused, "already holds a report; --on-exists overwrite replaces it");
  EXPECT_EQ(test::read_file(page_ + "/index.html").substr(0, 5), "first");
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
