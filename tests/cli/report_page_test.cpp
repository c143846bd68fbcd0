// --report: the page about a run or a comparison.
#include <filesystem>
#include <regex>

#include "cli/batch_fixture.hpp"
#include "support/pictures.hpp"
#include "support/svg.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class ReportPage : public BatchTest {
 protected:
  [[nodiscard]] std::string html() const { return read_file(page_ + "/index.html"); }

  // Expects that every file that the page names exists and is a JPEG; returns how many there are.
  [[nodiscard]] std::size_t named_previews() const {
    const std::string text = html();
    static const std::regex source("<img[^>]* src=\"([^\"]*)\"");
    std::set<std::string> names;
    for (std::sregex_iterator it(text.begin(), text.end(), source), end; it != end; ++it)
      names.insert((*it)[1]);
    for (const std::string& name : names)
      EXPECT_EQ(read_file(page_ + "/" + name).substr(0, 2), "\xff\xd8") << name;
    return names.size();
  }

  [[nodiscard]] std::size_t count(const std::string& part) const { return count_of(html(), part); }

  [[nodiscard]] std::string report_line() const { return "report: " + page_ + "/index.html\n"; }

  const std::string page_ = folder_ / "page";
};

TEST_F(ReportPage, OfOnePictureShowsItBeforeAndAfterAndHowToRepeatIt) {
  const std::string input = stored(random_image(size_, format_, 1), "it's.png");
  const ProcessResult result =
      ended(0, filter({input, folder_ / "out.png", "--blur", "auto", "--device", "cpu", "--report",
                       page_, "--timing", "off"}));
  EXPECT_EQ(result.err, report_line());
  EXPECT_EQ(named_previews(), 3U);
  EXPECT_EQ(count("type=\"range\""), 1U);
  EXPECT_EQ(count("class=\"sketch\""), 2U) << "histograms";
  EXPECT_EQ(count(">blur auto<") + count(">blur avx512<") + count(">blur avx2<") +
                count(">blur baseline<"),
            1U)
      << "a bar of the chart";
  EXPECT_EQ(count("<dt>Why</dt><dd>requested</dd>"), 1U);
  const std::string command = GPUFILTER_PROGRAM " '" + folder_.path().string() + "/it'\\''s.png' " +
                              (folder_ / "out.png") + " --blur auto --device cpu --report " +
                              page_ + " --timing off</code>";
  EXPECT_EQ(count(command), 1U) << html();
  EXPECT_EQ(count("1x1"), 0U);
}

// From any folder, with quotes in names, a recipe, several outputs, and results that exist.
TEST_F(ReportPage, HasACommandThatRepeatsTheRun) {
  const auto repeat = [&] {
    std::string text = html();
    const std::size_t begin = text.find("<pre tabindex=\"0\" id=\"repeat\">");
    text = text.substr(begin, text.find("</pre>", begin) - begin);
    text = std::regex_replace(text, std::regex("<[^>]*>"), "");
    for (const auto& [entity, sign] : std::vector<std::pair<std::string, std::string>>{
             {"&quot;", "\""}, {"&#39;", "'"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}})
      text = std::regex_replace(text, std::regex(entity), sign);
    return run_process({"bash", "-c", text}, {.folder = "/"});
  };
  const std::string folder = folder_ / "it's a folder";
  fs::create_directory(folder);
  fs::rename(in_, folder + "/in");
  in_ = folder + "/in";
  put("$a b.png");
  put("\xc3\xbc\n.png");
  write_file(folder + "/a.recipe", "--gaussian 1.50 --output mid/");
  const ProcessOptions there{.environment = {{"GPUFILTER_DEVICE", "cpu"}}, .folder = folder};
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--on-exists", "skip"}, {"--resume"}}) {
    SCOPED_TRACE(::testing::PrintToString(more));
    std::vector<std::string> words{"in",      "out dir", "@a.recipe", "--sharpen", ".50",
                                   "--sigma", "1.0",     "--report",  "page",      "-q"};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessResult first = ended(0, filter(words, there));
    fs::rename(folder + "/page", page_);
    EXPECT_EQ(count("<dt>--sharpen</dt><dd>.50 --sigma 1.0</dd>"), 1U);
    const Files made = results_in(folder + "/out dir");
    ASSERT_EQ(made.size(), 2U);
    for (const auto& [name, bytes] : made)
      write_file(folder + "/out dir/" + name, "old");
    const ProcessResult again = ended(0, repeat());
    EXPECT_EQ(results_in(folder + "/out dir"), made);
    fs::remove_all(page_);
    fs::remove_all(folder + "/page");
    fs::remove_all(folder + "/out dir");
    fs::remove_all(folder + "/mid");
  }
}

TEST_F(ReportPage, ChangesNoByteOfAnyOutput) {
  put_many(3);
  const Files expected = undisturbed();
  EXPECT_EQ(good_batch({"--report", page_}).exit_code, 0);
  EXPECT_EQ(results_in(out_), expected);
}

TEST_F(ReportPage, NamesAFailedPictureByItsInput) {
  std::filesystem::create_directory(in_ + "/sub");
  write_file(in_ + "/sub/torn.png", "no picture");
  EXPECT_EQ(batch({"--recursive", "--to", "jpg", "--report", page_}).exit_code, 1);
  EXPECT_EQ(count("<span class=\"name\">sub/torn.png</span>"), 1U);
}

TEST_F(ReportPage, OfAFolderHasACardForEachPicture) {
  put("a.png");
  put("<script>alert(1)<&\"'>.png");
  write_file(in_ + "/torn.png", read_file(in_ + "/a.png").substr(0, 300));
  const ProcessResult result = batch({"--report", page_});
  EXPECT_EQ(result.exit_code, 1) << "a picture failed";
  EXPECT_TRUE(result.err.ends_with(report_line())) << result.err;
  EXPECT_EQ(named_previews(), 6U);
  EXPECT_EQ(count("<li class=\"card good\""), 2U);
  EXPECT_EQ(count("<li class=\"card bad\""), 1U);
  EXPECT_EQ(count(">failed 1</button>"), 1U);
  EXPECT_EQ(count("<p class=\"message\">" + in_ + "/torn.png: the file ends too early</p>"), 2U)
      << "in the card and in its detail";
  EXPECT_EQ(count("2 of 3 pictures done, 1 failed"), 1U);
  EXPECT_EQ(count("<script>"), 1U);
  EXPECT_EQ(count("<span class=\"name\">&lt;script&gt;alert(1)&lt;&amp;&quot;'&gt;.png</span>"),
            1U);
}

TEST_F(ReportPage, OfPicturesInPlaceShowsThemBefore) {
  for (const bool is_folder : {false, true}) {
    SCOPED_TRACE(is_folder);
    fs::remove_all(page_);
    const std::string path = in_ + "/a.png";
    Image image({16, 16}, {1, 8});
    for (const auto [x, y] : each_pixel({16, 16}))
      set_sample(image, x, y, 0, 0);
    write_png(image, path);
    const ProcessResult result =
        ended(0, filter({is_folder ? in_ : path, "--in-place", "--invert", "--report", page_}));
    std::map<std::string, std::uint32_t> shown;
    for (const auto& file : fs::recursive_directory_iterator(page_)) {
      if (file.path().extension() == ".jpg")
        shown[file.path().filename()] = sample_at(read_picture(file.path()), 8, 8, 0);
    }
    EXPECT_EQ(shown["1-before.jpg"], 0U);
    EXPECT_EQ(shown["1-after.jpg"], 255U);
  }
}

TEST_F(ReportPage, OfAPipeShowsWhatPassed) {
  const Image image = random_image(size_, format_, 1);
  const std::string input = stored(image, "in.png");
  ProcessOptions options;
  options.input = read_file(input);
  const ProcessResult plain = filter({"-", "-", "--blur", "auto", "--to", "png", "-q"}, options);
  const ProcessResult result = ended(0, filter({"-", "-", "--invert", "--levels", "auto", "--to",
                                                "png", "--report", page_, "--timing", "off"},
                                               options));
  EXPECT_EQ(result.err, report_line());
  EXPECT_EQ(plain.out.substr(0, 4), result.out.substr(0, 4));
  EXPECT_EQ(named_previews(), 3U);
  EXPECT_EQ(count("<h1>standard input \u2192 standard output</h1>"), 1U);
}

TEST_F(ReportPage, OfARunThatResumesShowsWhatWasSkipped) {
  put_many(2);
  (void)good_batch();
  put("p102.png");
  (void)good_batch({"--resume", "--report", page_});
  EXPECT_EQ(count(">unchanged 2</button>"), 1U);
  EXPECT_EQ(count(">done 1</button>"), 1U);
  EXPECT_EQ(named_previews(), 9U) << "skipped pictures are shown too";
  (void)good_batch({"--on-exists", "skip", "--report", page_});
  EXPECT_EQ(count(">skipped 3</button>"), 1U);

  const ProcessResult one = ended(0, filter({in_ + "/p100.png", out_ + "/p100.png", "--on-exists",
                                             "skip", "--report", page_, "-q"}));
  EXPECT_EQ(count("skipped: the output already exists and was kept"), 1U);
}

TEST_F(ReportPage, ASearchOfFoldersSkipsIt) {
  put("a.png");
  const std::string inside = in_ + "/page";
  (void)good_batch({"--recursive", "--report", inside});
  (void)good_batch({"--recursive", "--report", inside, "--on-exists", "overwrite"});
  EXPECT_EQ(names_of(results_in(out_)), (std::vector<std::string>{"a.png"}));
  EXPECT_EQ(filter({"compare", in_, in_, "--recursive"}).out, "1 name: 1 equal\n");
}

TEST_F(ReportPage, RefusesWhatMakesNoSenseBeforeAnythingIsWritten) {
  put("a.png");
  const std::string page = "gpufilter: " + page_;
  expect_refusal({"--report", page_, "--dry-run"},
                 {"--report: not possible with --dry-run, which writes nothing\n"});
  expect_refusal({"--report", page_, "--shard", "0/2"}, {"--report: not possible with --shard"});
  expect_refusal({"--report", "-"}, {"--report -: a page needs a folder; name one\n"});
  expect_refusal({"--report", out_}, {out_ + ": results go there; give --report another folder\n"});
  expect_refusal({"--report", folder_ / ""}, {": results go there"});
  expect_refusal({"--report", in_},
                 {in_ + ": holds other files; give --report a new or empty folder\n"});
  expect_refusal({"--report", in_ + "/a.png"}, {in_ + "/a.png: is not a folder"});
  expect_failure(2, {in_ + "/a.png", page_ + "/b.png", "--report", page_},
                 {page + ": results go there; give --report another folder\n"});
}

TEST_F(ReportPage, FollowsTheRulesForExistingFiles) {
  put("a.png");
  (void)good_batch({"--report", page_});
  fs::remove_all(out_);
  expect_refusal({"--report", page_},
                 {page_ + ": already holds a report; --on-exists overwrite replaces it\n"});
  (void)good_batch({"--report", page_, "--on-exists", "overwrite"});
  EXPECT_EQ(named_previews(), 3U);
  const std::vector<std::string> one{in_ + "/a.png", folder_ / "b.png", "--report", page_, "-q"};
  EXPECT_EQ(filter(one).exit_code, 0) << "one picture replaces its output and its page";
  std::vector<std::string> careful = one;
  careful.insert(careful.end(), {"--on-exists", "fail"});
  fs::remove(folder_ / "b.png");
  expect_one_line(ended(2, filter(careful)).err, {"already holds a report"});
  EXPECT_FALSE(fs::exists(folder_ / "b.png"));
}

TEST_F(ReportPage, ThatCannotBeWrittenLeavesTheOutputs) {
  put("a.png");
  // A folder in the page's place is found out only at the end.
  fs::create_directories(page_ + "/index.html/x");
  write_file(page_ + "/.gpufilter-report", "");
  for (const bool is_folder : {true, false}) {
    std::vector<std::string> words{in_, out_, "--report", page_, "--on-exists", "overwrite", "-q"};
    if (!is_folder) {
      words[0] += "/a.png";
      words[1] = folder_ / "one.png";
    }
    expect_one_line(ended(1, filter(words)).err, {page_ + "/index.html: "});
    EXPECT_TRUE(fs::exists(is_folder ? out_ + "/a.png" : words[1]));
  }
  EXPECT_EQ(names_in(page_), (std::vector<std::string>{".gpufilter-report", "index.html"}))
      << "no previews are left";
}

TEST_F(ReportPage, OfAFailedPictureIsNotMade) {
  put("a.png");
  write_file(in_ + "/torn.png", read_file(in_ + "/a.png").substr(0, 300));
  const ProcessResult result =
      ended(1, filter({in_ + "/torn.png", folder_ / "b.png", "--report", page_, "-q"}));
  EXPECT_FALSE(fs::exists(page_));
}

TEST_F(ReportPage, ComparesTwoPictures) {
  const Image image = random_image(size_, format_, 1);
  Image other = copy_of(image);
  set_sample(other, 3, 4, 1, sample_at(image, 3, 4, 1) ^ 64U);
  const std::string a = stored(image, "a.png");
  const std::string b = stored(other, "b.png");
  const ProcessResult result = ended(2, filter({"compare", a, b, "--report", page_}));
  EXPECT_EQ(result.err, report_line());
  EXPECT_EQ(result.out, filter({"compare", a, b}).out);
  EXPECT_EQ(named_previews(), 3U);
  EXPECT_EQ(count("Different: 1 of 3015 pixels (0.03 %) differ, by at most 64 at x 3, y 4"), 1U);
  EXPECT_EQ(count("<code id=\"command\">gpufilter compare " + a + " " + b + " --report " + page_),
            1U);
  ProcessOptions options;
  options.input = read_file(b);
  EXPECT_EQ(filter({"compare", a, "-", "--report", page_, "-q"}, options).exit_code, 2);
  EXPECT_EQ(named_previews(), 3U);
}

TEST_F(ReportPage, ComparesTwoFolders) {
  put("same.png");
  put("other.png");
  put("gone.png");
  fs::copy(in_, out_);
  fs::remove(out_ + "/gone.png");
  write_picture(random_image({37, 29}, format_, 99).rows(), out_ + "/other.png");
  write_picture(random_image({37, 28}, format_, 99).rows(), in_ + "/size.png");
  write_picture(random_image({37, 29}, format_, 99).rows(), out_ + "/size.png");
  write_file(out_ + "/torn.png", read_file(in_ + "/same.png").substr(0, 300));
  write_file(in_ + "/torn.png", read_file(in_ + "/same.png"));
  const ProcessResult result = ended(4, filter({"compare", in_, out_, "--report", page_}));
  EXPECT_EQ(result.out, filter({"compare", in_, out_}).out);
  for (const char* status : {"equal", "different", "not comparable", "only in A", "unreadable"})
    EXPECT_EQ(count(">" + std::string(status) + " 1</button>"), 1U) << status;
  EXPECT_EQ(named_previews(), 8U) << "2 + 3 + 2 + 1 + 0";
  expect_failure(4, {"compare", in_, out_, "--report", in_}, {"holds other files"});
}

}  // namespace
}  // namespace gpufilter::test
