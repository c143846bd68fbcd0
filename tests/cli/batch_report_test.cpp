// Reports of folders, and pages of --report.
#include <regex>

#include "cli/batch_fixture.hpp"
#include "host/instruction_set.hpp"
#include "support/document_checks.hpp"

namespace gpufilter::test {
namespace {

class BatchReport : public BatchTest {};

TEST_F(BatchReport, JsonHasAnObjectForEachPicture) {
  put("b.jpg", {40, 30});
  put("a.png");
  const Json document = json_batch({"--jobs", "2"});
  EXPECT_EQ(document["schema"], "gpufilter-batch-1");
  EXPECT_EQ(document["input"], in_);
  EXPECT_EQ(document["output"], out_);
  EXPECT_EQ(document["dry_run"], false);
  ASSERT_EQ(document["pictures"].size(), 2U);
  EXPECT_EQ(document["pictures"][0]["input"], in_ + "/a.png");
  const Json& picture = document["pictures"][1];
  EXPECT_EQ(picture["input"], in_ + "/b.jpg");
  EXPECT_EQ(picture["output"], out_ + "/b.jpg");
  EXPECT_EQ(picture["status"], "done");
  EXPECT_EQ(picture["input_format"], "JPEG");
  EXPECT_EQ(picture["output_format"], "JPEG");
  EXPECT_EQ(picture["input_pixels"], (Json{{"color", "RGB"}, {"channels", 3}, {"depth", 8}}));
  EXPECT_EQ(picture["output_pixels"], picture["input_pixels"]);
  EXPECT_EQ(picture["width"], 40);
  EXPECT_EQ(picture["height"], 30);
  EXPECT_EQ(picture["device"], "processor");
  EXPECT_EQ(picture["input_bytes"], fs::file_size(in_ + "/b.jpg"));
  EXPECT_EQ(picture["output_bytes"], fs::file_size(out_ + "/b.jpg"));
  EXPECT_EQ(picture["jpeg"]["quality"], 90);
  EXPECT_EQ(picture["jpeg"]["subsampling_reason"], "kept from the input");
  EXPECT_TRUE(document["pictures"][0]["jpeg"].is_null());
  const Json& summary = document["summary"];
  EXPECT_EQ(summary["done"], 2);
  EXPECT_EQ(summary["failed"], 0);
  EXPECT_EQ(summary["pixels"], 40 * 30 + 37 * 29);
  EXPECT_EQ(summary["devices"][0]["name"], "processor");
  EXPECT_EQ(summary["devices"][0]["pictures"], 2);
  Words activities;
  for (const Json& line : summary["activities"])
    activities.push_back(line["activity"]);
  EXPECT_EQ(activities, (Words{"decode", "kernel", "encode"}));
}

// Messages on standard error come between lines of standard output, not into them.
TEST_F(BatchReport, JsonHasALineForEachPicture) {
  put("a.png");
  write_file(in_ + "/b.png", "text");
  put("c.png");
  const ProcessResult result = batch({"--json", "--jobs", "1"});
  const Words lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 5U) << result.out;
  EXPECT_EQ(Json::parse(lines[1])["status"], "done");
  for (const std::size_t i : {2U, 3U}) {
    ASSERT_EQ(lines[i].front(), ',') << lines[i];
    EXPECT_EQ(Json::parse(lines[i].substr(1))["status"], i == 2 ? "failed" : "done");
  }
  EXPECT_TRUE(begins(lines[4], "],\"summary\":{"));
}

TEST_F(BatchReport, AlphaThatIsLostIsReportedOnce) {
  for (const char* name : {"a.png", "b.png"})
    write_png(random_image({20, 10}, {4, 8}, 1), in_ + "/" + name);
  put("c.png");
  const ProcessResult result = good_batch({"--to", "jpeg", "--timing", "off"});
  EXPECT_TRUE(contains(result.err,
                       "gpufilter: warning: 2 pictures: alpha is flattened onto #ffffff, "
                       "because JPEG has none; --background sets another colour\n"));
  EXPECT_EQ(result.err.find("alpha"), result.err.rfind("alpha")) << result.err;
  EXPECT_FALSE(contains(good_batch({"--to", "jpeg", "--timing", "off", "--background", "#ff0000",
                                    "--on-exists", "overwrite"})
                            .err,
                        "alpha"));
}

TEST_F(BatchReport, VerifiedBlocksAreInEveryForm) {
  put("a.png");
  put("b.png");
  const Json document = json_batch({"--verify=3"});
  EXPECT_EQ(document["pictures"][0]["verified_blocks"], 3);
  EXPECT_EQ(document["summary"]["verified_blocks"], 6);
  EXPECT_TRUE(
      contains(good_batch({"--verify=3", "--on-exists", "overwrite", "--timing", "table"}).err,
               "  6 blocks equal to the processor's baseline\n"));
  EXPECT_TRUE(
      ends(good_batch({"--verify=3", "--on-exists", "overwrite", "--timing", "csv"}).out, ",6\n"));
  EXPECT_FALSE(json_batch({"--on-exists", "overwrite"})["summary"].contains("verified_blocks"));
}

TEST_F(BatchReport, TheTimingIsThatOfAllPictures) {
  put_many(3);
  expect_parts(
      good_batch({"--timing", "table"}).err,
      {": 3 pictures done\n", "device: processor, 3 pictures", "decode ", "blur ", "total "});
  const ProcessResult json = good_batch({"--on-exists", "overwrite", "--timing", "json"});
  EXPECT_EQ(Json::parse(json.out)["schema"], "gpufilter-batch-timing-1");
  EXPECT_EQ(Json::parse(json.out)["done"], 3);
  const ProcessResult csv = good_batch({"--on-exists", "overwrite", "--timing", "csv"});
  EXPECT_TRUE(begins(csv.out, "walk,activity,pass,stage,variant,"));
  EXPECT_TRUE(contains(csv.out, "\n0,kernel,0,blur,"));
  const ProcessResult quiet = good_batch({"--on-exists", "overwrite", "-q"});
  EXPECT_EQ(quiet.out + quiet.err, "");
  const ProcessResult off = good_batch({"--on-exists", "overwrite", "--timing", "off"});
  EXPECT_EQ(std::count(off.err.begin(), off.err.end(), '\n'), 2) << off.err;
  EXPECT_TRUE(contains(off.err, " Mpx/s; device: processor"));
}

TEST_F(BatchReport, TheTraceHasEveryPicture) {
  put_many(5);
  const std::string trace = folder_ / "trace.json";
  ended(0, batch({"--jobs", "2", "--trace", trace}));
  const Json events = Json::parse(read_file(trace))["traceEvents"];
  Words pictures;
  std::map<std::string, int> counts;
  for (const Json& event : events) {
    if (event["ph"] != "X") continue;
    EXPECT_GE(event["ts"].get<double>(), 0.0);
    EXPECT_TRUE(event["pid"] == 1 || event["pid"] == 2);
    ++counts[event["cat"].get<std::string>()];
    if (event["cat"] == "picture") pictures.push_back(event["name"]);
  }
  std::sort(pictures.begin(), pictures.end());
  ASSERT_EQ(pictures.size(), 5U);
  EXPECT_EQ(pictures[0], in_ + "/p100.png");
  EXPECT_GE(counts["decode"], 5);
  EXPECT_GE(counts["encode"], 5);
  fs::remove_all(in_);
  fs::create_directory(in_);
  ended(0, batch({"--trace", trace}));
  EXPECT_TRUE(Json::parse(read_file(trace))["traceEvents"].empty());
}

TEST_F(BatchReport, VerboseNamesEachPicture) {
  put_many(2);
  const ProcessResult result = good_batch({"-v", "--timing", "off"});
  EXPECT_TRUE(
      contains(result.err, "gpufilter: " + in_ + "/p100.png -> " + out_ + "/p100.png: 37x29, "));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 4) << result.err;
}

// messages_test.cpp tests what a terminal shows.
TEST_F(BatchReport, ProgressIsLinesWhereThereIsNoTerminal) {
  put_many(3);
  const ProcessResult lines = good_batch({"--progress", "on", "--timing", "off"});
  // The progress moves with the rows of a picture, before one is finished.
  EXPECT_TRUE(begins(lines.err, "gpufilter: 0/3 pictures, "));
  EXPECT_FALSE(contains(lines.err, "pictures, 0 %"));
  EXPECT_EQ(lines.err.find('\r'), std::string::npos);
}

// --report: the page about a run or a comparison.

struct ReportPage : BatchTest {
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
  EXPECT_EQ(ended(0, filter({input, folder_ / "out.png", "--blur", "auto", "--device", "cpu",
                             "--report", page_, "--timing", "off"}))
                .err,
            report_line());
  EXPECT_EQ(named_previews(), 3U);
  EXPECT_EQ(count("type=\"range\""), 1U);
  EXPECT_EQ(count("class=\"sketch\""), 2U) << "histograms";
  EXPECT_EQ(count(">blur " + std::string(to_string(instruction_set())) + "<"), 1U)
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
  for (const Words& more : {Words{}, {"--on-exists", "skip"}, {"--resume"}}) {
    SCOPED_TRACE(::testing::PrintToString(more));
    ended(0, filter(Words{"in", "out dir", "@a.recipe", "--sharpen", ".50", "--sigma", "1.0",
                          "--report", "page", "-q"} +
                        more,
                    there));
    fs::rename(folder + "/page", page_);
    EXPECT_EQ(count("<dt>--sharpen</dt><dd>.50 --sigma 1.0</dd>"), 1U);
    const Files made = results_in(folder + "/out dir");
    ASSERT_EQ(made.size(), 2U);
    for (const auto& [name, bytes] : made)
      write_file(folder + "/out dir/" + name, "old");
    ended(0, repeat());
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
  ended(0, good_batch({"--report", page_}));
  EXPECT_EQ(results_in(out_), expected);
}

TEST_F(ReportPage, OfAFolderHasACardForEachPicture) {
  put("a.png");
  put("<script>alert(1)<&\"'>.png");
  write_file(in_ + "/torn.png", read_file(in_ + "/a.png").substr(0, 300));
  const ProcessResult result = batch({"--report", page_});
  EXPECT_EQ(result.exit_code, 1) << "a picture failed";
  EXPECT_TRUE(ends(result.err, report_line()));
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
  const std::string input = stored(random_image(size_, format_, 1), "in.png");
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
  ended(0, batch());
  put("p102.png");
  ended(0, batch({"--resume", "--report", page_}));
  EXPECT_EQ(count(">unchanged 2</button>"), 1U);
  EXPECT_EQ(count(">done 1</button>"), 1U);
  EXPECT_EQ(named_previews(), 9U) << "skipped pictures are shown too";
  ended(0, batch({"--on-exists", "skip", "--report", page_}));
  EXPECT_EQ(count(">skipped 3</button>"), 1U);

  ended(0, filter({in_ + "/p100.png", out_ + "/p100.png", "--on-exists", "skip", "--report", page_,
                   "-q"}));
  EXPECT_EQ(count("skipped: the output already exists and was kept"), 1U);
}

TEST_F(ReportPage, ASearchOfFoldersSkipsIt) {
  put("a.png");
  const std::string inside = in_ + "/page";
  ended(0, batch({"--recursive", "--report", inside}));
  ended(0, batch({"--recursive", "--report", inside, "--on-exists", "overwrite"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"a.png"}));
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
  ended(0, batch({"--report", page_}));
  fs::remove_all(out_);
  expect_refusal({"--report", page_},
                 {page_ + ": already holds a report; --on-exists overwrite replaces it\n"});
  ended(0, batch({"--report", page_, "--on-exists", "overwrite"}));
  EXPECT_EQ(named_previews(), 3U);
  const Words one{in_ + "/a.png", folder_ / "b.png", "--report", page_, "-q"};
  EXPECT_EQ(filter(one).exit_code, 0) << "one picture replaces its output and its page";
  Words careful = one;
  careful.insert(careful.end(), {"--on-exists", "fail"});
  fs::remove(folder_ / "b.png");
  expect_one_line(ended(2, filter(careful)).err, {"already holds a report"});
  EXPECT_FALSE(fs::exists(folder_ / "b.png"));
}

TEST_F(ReportPage, ThatCannotBeWrittenLeavesTheOutputs) {
  put("a.png");
  // A folder in place of the page is noticed only at the end.
  fs::create_directories(page_ + "/index.html/x");
  write_file(page_ + "/.gpufilter-report", "");
  for (const bool is_folder : {true, false}) {
    Words words{in_, out_, "--report", page_, "--on-exists", "overwrite", "-q"};
    if (!is_folder) {
      words[0] += "/a.png";
      words[1] = folder_ / "one.png";
    }
    expect_one_line(ended(1, filter(words)).err, {page_ + "/index.html: "});
    EXPECT_TRUE(fs::exists(is_folder ? out_ + "/a.png" : words[1]));
  }
  EXPECT_EQ(names_in(page_), (Words{".gpufilter-report", "index.html"})) << "no previews are left";
}

TEST_F(ReportPage, OfAFailedPictureIsNotMadeAndNamesItByItsInputInAFolder) {
  put("a.png");
  write_file(in_ + "/torn.png", read_file(in_ + "/a.png").substr(0, 300));
  ended(1, filter({in_ + "/torn.png", folder_ / "b.png", "--report", page_, "-q"}));
  EXPECT_FALSE(fs::exists(page_));
  fs::create_directory(in_ + "/sub");
  write_file(in_ + "/sub/torn.png", "no picture");
  ended(1, batch({"--recursive", "--to", "jpg", "--report", page_}));
  EXPECT_EQ(count("<span class=\"name\">sub/torn.png</span>"), 1U);
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
  ended(2, filter({"compare", a, "-", "--report", page_, "-q"}, options));
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
  EXPECT_EQ(ended(4, filter({"compare", in_, out_, "--report", page_})).out,
            filter({"compare", in_, out_}).out);
  for (const char* status : {"equal", "different", "not comparable", "only in A", "unreadable"})
    EXPECT_EQ(count(">" + std::string(status) + " 1</button>"), 1U) << status;
  EXPECT_EQ(named_previews(), 8U) << "2 + 3 + 2 + 1 + 0";
  expect_failure(4, {"compare", in_, out_, "--report", in_}, {"holds other files"});
}

// Pages of --report in a browser: the divider, the filters, light and dark, and that nothing is
// fetched.

struct Browser : BatchTest {
  // Expects that the page in `folder` works; skips the test if there is no browser.
  static void expect_it_works(const std::string& kind, const std::string& folder) {
    // Debian's, for which python3-selenium is installed.
    if (!fs::exists("/usr/bin/python3")) GTEST_SKIP() << "skipped: no /usr/bin/python3";
    const ProcessResult result =
        run_process({"/usr/bin/python3", GPUFILTER_SOURCE "/tests/cli/browse_page.py", kind,
                     folder + "/index.html"});
    constexpr int missing = 77;
    if (result.exit_code == missing) GTEST_SKIP() << "skipped: " << result.out;
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "as expected\n");
  }

  const std::string page_ = folder_ / "it's a <page>";
};

TEST_F(Browser, ShowsOnePicture) {
  put("a.png", {400, 300});
  ended(0, filter({in_ + "/a.png", folder_ / "b.jpg", "--blur", "auto", "--device", "cpu",
                   "--report", page_, "-q"}));
  expect_it_works("single", page_);
}

TEST_F(Browser, ShowsAFolder) {
  put("b.png", {300, 200});
  put("a.png", {300, 200});
  write_file(in_ + "/torn.png", read_file(in_ + "/a.png").substr(0, 300));
  ended(1, batch({"--report", page_, "-q"}));
  expect_it_works("grid", page_);
}

TEST_F(Browser, ShowsAComparison) {
  put("a.png", {400, 300});
  put("b.png", {400, 300});
  ended(2, filter({"compare", in_ + "/a.png", in_ + "/b.png", "--report", page_, "-q"}));
  expect_it_works("single", page_);
}

}  // namespace
}  // namespace gpufilter::test
