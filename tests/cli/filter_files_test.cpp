// Files that a run reads, replaces, copies and does not touch.

#include "base/printable.hpp"
#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"
#include "support/jpeg.hpp"
#include "support/pseudo_terminal.hpp"

namespace gpufilter::test {
namespace {

struct FilterFiles : OnePicture {};

TEST_F(FilterFiles, AnOutputFolderTakesTheInputsName) {
  fs::create_directory(folder_ / "results");
  filter_quietly({in_, folder_ / "results", "--blur", "auto"});
  filter_quietly({in_, (folder_ / "results") + "/", "--blur", "auto"});
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "results/in.png"), blurred(image_)));
  filter_quietly({in_, (folder_ / "new/deep") + "/", "--blur", "auto"});
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "new/deep/in.png"), blurred(image_)));
  // The folder is not created without a result.
  expect_failure(1, {folder_ / "missing.png", (folder_ / "other") + "/"}, {"missing.png: "});
  expect_failure(2, {"-", folder_ / "results"}, {"results: ", "standard input"});
}

// As when "gpufilter *.png" matches two pictures.
TEST_F(FilterFiles, TwoPicturesAndNothingElseAreRefused) {
  static_cast<void>(stored(random_image(size_, format_, 2), "out.png"));
  expect_failure(2, {in_, out_}, {out_ + ": already exists", "--on-exists overwrite"});
  filter_quietly({in_, out_, "--on-exists", "overwrite"});
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
  const std::string copy = folder_ / "copy.png";
  ended(0, filter({in_, copy}));
  EXPECT_TRUE(same_pixels(read_picture(copy), image_));
}

TEST_F(FilterFiles, OverwritesFailsOrSkipsAsAsked) {
  write_file(out_, "before");
  filter_quietly({in_, out_});
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
  write_file(out_, "before");
  filter_quietly({in_, out_, "--on-exists", "overwrite"});
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
  write_file(out_, "before");
  expect_failure(2, {in_, out_, "--on-exists", "fail"}, {out_ + ": ", "--on-exists overwrite"});
  expect_failure(2, {folder_ / "missing.png", out_, "--on-exists", "fail"}, {out_ + ": "});
  fs::remove(out_);
  filter_quietly({in_, out_, "--on-exists", "fail"});
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
  write_file(out_, "before");
  const ProcessResult result = ended(0, filter({in_, out_, "--on-exists", "skip", "-v"}));
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, in_ + " -> " + out_ + ": already exists, skipped\n");
  EXPECT_EQ(read_file(out_), "before");
  filter_quietly({folder_ / "missing.png", out_, "--on-exists", "skip"});
  fs::remove(out_);
  filter_quietly({in_, out_, "--on-exists", "skip"});
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
}

TEST_F(FilterFiles, AReplacementIsReported) {
  const ProcessOptions here{.folder = folder_.path()};
  const auto report = [&here](const std::string& output, const std::string& timing) {
    const ProcessResult result =
        ended(0, filter({"in.png", output, "--blur", "auto", "--timing", timing}, here));
    return result.out + result.err;
  };
  EXPECT_TRUE(report("out.png", "line").starts_with("in.png -> out.png: 67x45, RGB, 8-bit; "));
  EXPECT_TRUE(
      report("out.png", "line").starts_with("in.png -> out.png (replaced): 67x45, RGB, 8-bit; "));
  EXPECT_TRUE(report("out.png", "table").starts_with("in.png -> out.png (replaced): 67x45, "));
  EXPECT_EQ(Json::parse(report("out.png", "json"))["replaced"], true);
  EXPECT_EQ(Json::parse(report("new.png", "json"))["replaced"], false);
  const auto replaced = [&here](const std::string& output) {
    return filter_json(0, {"in.png", output, "--blur", "auto", "--json", "-q"}, here)["replaced"];
  };
  EXPECT_EQ(replaced("new.png"), true);
  EXPECT_EQ(replaced("newer.png"), false);
  fs::create_symlink("new.png", folder_ / "link.png");
  EXPECT_EQ(Json::parse(report("link.png", "json"))["replaced"], true);
  // A file of the name "-" is not standard output.
  write_file(folder_ / "-", "before");
  EXPECT_FALSE(contains(filter({"in.png", "-", "--timing", "line"}, here).err, "(replaced)"));
}

TEST_F(FilterFiles, TheEnvironmentDecidesWhatExists) {
  const auto with = [this](const std::string& value, Words words) {
    return filter(std::move(words), {.environment = {{"GPUFILTER_ON_EXISTS", value}}});
  };
  write_file(out_, "before");
  const Words call{in_, out_, "--blur", "auto", "-q"};
  EXPECT_EQ(ended(2, with("fail", call)).err,
            "gpufilter: " + out_ + ": already exists; --on-exists overwrite replaces it\n");
  ended(0, with("skip", call));
  EXPECT_EQ(read_file(out_), "before");
  // A bad value names the variable, and the option wins.
  EXPECT_EQ(ended(2, with("never", call)).err,
            "gpufilter: GPUFILTER_ON_EXISTS: 'never' is not one of fail, skip, overwrite\n");
  ended(0, with("", call));
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
  for (const std::string value : {"fail", "never"}) {
    write_file(out_, "before");
    ended(0, with(value, {in_, out_, "--on-exists", "overwrite"}));
    EXPECT_TRUE(same_pixels(read_picture(out_), image_));
  }
  // The option is a choice: a copy over another picture is then meant.
  ended(0, with("overwrite", {in_, out_}));
  // Folders too.
  fs::create_directory(folder_ / "photos");
  fs::create_directory(folder_ / "results");
  fs::copy(in_, folder_ / "photos/in.png");
  write_file(folder_ / "results/in.png", "before");
  ended(0, with("skip", {folder_ / "photos", folder_ / "results", "-q"}));
  EXPECT_EQ(read_file(folder_ / "results/in.png"), "before");
  ended(0, with("overwrite", {folder_ / "photos", folder_ / "results", "-q"}));
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "results/in.png"), image_));
}

TEST_F(FilterFiles, OneFileAsInputAndOutputIsRefused) {
  fs::create_symlink("in.png", folder_ / "link.png");
  fs::create_hard_link(in_, folder_ / "hard.png");
  fs::create_directory_symlink(".", folder_ / "here");
  for (const std::string name :
       {"in.png", "./in.png", "link.png", "hard.png", "here/in.png", "."}) {
    expect_failure(2, {"in.png", name, "--blur", "auto"}, {"--in-place"},
                   {.folder = folder_.path()});
  }
  expect_failure(2, {"link.png", in_}, {"--in-place"}, {.folder = folder_.path()});
}

TEST_F(FilterFiles, MissingFilesAndFullDevicesAreNamed) {
  expect_failure(1, {folder_ / "missing.png", out_, "--blur", "auto"},
                 {"missing.png: no such file"});
  expect_failure(1, {in_, folder_ / "nowhere/out.png"}, {"nowhere/out.png: ", "create it first"});
  expect_failure(1, {in_, in_ + "/out.png"}, {"in.png/out.png: "});
  fs::create_symlink("/dev/full", folder_ / "full.png");
  expect_failure(1, {in_, folder_ / "full.png", "--blur", "auto"}, {"full.png: no space left"});
  EXPECT_TRUE(fs::is_symlink(folder_ / "full.png"));
}

TEST_F(FilterFiles, AFolderThatMayNotBeWrittenIsAFailure) {
  expect_failure(1, {in_, "/proc/gpufilter-out.png"}, {"/proc/gpufilter-out.png: "});
  if (geteuid() == 0) GTEST_SKIP() << "skipped: the superuser may write everywhere";
  const fs::path closed = folder_ / "closed";
  fs::create_directory(closed);
  fs::permissions(closed, fs::perms::owner_read | fs::perms::owner_exec);
  expect_failure(1, {in_, closed / "out.png"}, {"closed/out.png: ", "permission denied"});
  fs::permissions(closed, fs::perms::owner_all);
}

TEST_F(FilterFiles, NamesMayBeginWithADash) {
  fs::rename(in_, folder_ / "-in.png");
  filter_quietly({"--blur", "auto", "./-in.png", "./-out.png"}, {.folder = folder_.path()});
  ended(0, filter({"--blur", "auto", "-q", "--", "-in.png", "-again.png"},
                  {.folder = folder_.path()}));
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "-again.png"), blurred(image_)));
}

TEST_F(FilterFiles, NamesMayHoldAnyBytes) {
  for (const std::string name : {"sp ace {}.png", "\xff\xfe.png", "%s%n.png", "ü\"'$.png"}) {
    const std::string out = folder_ / name;
    const ProcessResult result = ended(0, filter({in_, out, "--timing", "json"}));
    EXPECT_TRUE(Json::accept(result.out)) << result.out;
    EXPECT_TRUE(same_pixels(read_picture(out), image_));
    expect_failure(1, {out + ".missing", out_}, {printable(name) + ".missing: no such file"});
  }
}

TEST_F(FilterFiles, ATruncatedPictureLeavesTheOldOutput) {
  const std::string bytes = read_file(in_);
  write_file(folder_ / "cut.png", bytes.substr(0, bytes.size() - 14));
  write_file(out_, "before");
  expect_failure(1, {folder_ / "cut.png", out_, "--blur", "auto"}, {"cut.png: "});
}

// On a terminal, the user is asked before one picture replaces an existing file.

struct ReplaceQuestion : ProgramTest {
  void SetUp() override {
    before_ = read_file(stored(random_image(size_, format_, 1), "b.png"));
    static_cast<void>(stored(random_image(size_, format_, 2), "a.png"));
  }

  // The output after a user's answer, and the exit code.
  struct Answered {
    std::string screen;
    int exit_code;
  };
  [[nodiscard]] Answered answer(const std::string& keys, const Words& more = {}) const {
    PseudoTerminal terminal(Words{"/usr/bin/env", "GPUFILTER_ON_EXISTS=", GPUFILTER_PROGRAM,
                                  "a.png", "b.png", "--blur", "auto", "--device", "cpu"} +
                                more,
                            folder_.path(), 80);
    std::string screen = terminal.read();
    for (const char key : keys)
      terminal.press(key);
    screen += terminal.read_to_end();
    return {screen, terminal.wait()};
  }

  [[nodiscard]] bool is_replaced() const { return read_file(folder_ / "b.png") != before_; }

  std::string before_;
};

TEST_F(ReplaceQuestion, NoLeavesTheFile) {
  for (const char* keys : {"\n", "n\n", "\4"}) {
    const Answered no = answer(keys);
    EXPECT_TRUE(begins(no.screen, "replace b.png? [y/N] "));
    EXPECT_TRUE(contains(no.screen, "gpufilter: b.png: already exists, kept"));
    EXPECT_EQ(no.exit_code, 2);
    EXPECT_FALSE(is_replaced());
  }
}

TEST_F(ReplaceQuestion, YesReplacesIt) {
  const Answered yes = answer("y\n");
  EXPECT_EQ(yes.exit_code, 0);
  EXPECT_TRUE(contains(yes.screen, "a.png -> b.png (replaced)"));
  EXPECT_TRUE(is_replaced());
}

TEST_F(ReplaceQuestion, AnOptionAnswersIt) {
  EXPECT_FALSE(contains(answer("", {"--on-exists", "skip"}).screen, "[y/N]"));
  EXPECT_FALSE(is_replaced());
  EXPECT_FALSE(contains(answer("", {"--dry-run"}).screen, "[y/N]"));
  EXPECT_FALSE(is_replaced());
  EXPECT_FALSE(contains(answer("", {"--on-exists", "overwrite"}).screen, "[y/N]"));
  EXPECT_TRUE(is_replaced());
}

TEST_F(ReplaceQuestion, APatternThatTheShellLeavesIsNamed) {
  expect_failure(2, {folder_ / "*.jpg", folder_ / "out/"}, {"*.jpg: no file matches this pattern"});
  expect_failure(2, {folder_ / "*.png", folder_ / "out/"},
                 {"*.png: no file has this name; without quotes the shell replaces the pattern by "
                  "the 2 files that match it"});
}

// --in-place takes one name: every input is replaced by its result.

struct InPlace : ProgramTest {
  void SetUp() override {
    for (const char* name : {"a.png", "b.png", "c.png"})
      static_cast<void>(stored(image_, name));
  }

  [[nodiscard]] ProcessResult here(const Words& words, const ProcessOptions& more = {}) const {
    ProcessOptions options = more;
    options.folder = folder_.path();
    return filter(words + Words{"--blur", "auto", "--device", "cpu", "--in-place"}, options);
  }

  // How often each picture has been blurred.
  [[nodiscard]] std::vector<std::size_t> blurs() const {
    std::vector<std::size_t> all;
    for (const char* name : {"a.png", "b.png", "c.png"}) {
      std::size_t times = 0;
      const Image found = read_picture(folder_ / name);
      const auto is_result = [&] {
        return same_pixels(found.rows(),
                           times == 0 ? image_.rows() : blurred(image_, {}, times).rows());
      };
      while (times < 3 && !is_result())
        ++times;
      all.push_back(times);
    }
    return all;
  }

  using Times = std::vector<std::size_t>;
  const Image image_ = random_image(size_, format_, 1);
};

TEST_F(InPlace, OnePicture) {
  EXPECT_TRUE(
      begins(ended(0, here({"a.png"})).err, "a.png -> a.png (replaced): 67x45, RGB, 8-bit; "));
  EXPECT_EQ(blurs(), (Times{1, 0, 0}));
  EXPECT_EQ(names_in(folder_.path()), (Words{"a.png", "b.png", "c.png"}));
  ended(0, here({"a.png", "a.png"}));
  EXPECT_EQ(blurs(), (Times{2, 0, 0}));
}

TEST_F(InPlace, SeveralPictures) {
  ended(0, here({"a.png", "./c.png"}));
  EXPECT_EQ(blurs(), (Times{1, 0, 1}));
  EXPECT_EQ(names_in(folder_.path()), (Words{".gpufilter-journal", "a.png", "b.png", "c.png"}));
}

TEST_F(InPlace, NothingIsFilteredTwice) {
  ended(0, here({"a.png", "b.png"}));
  ended(0, here({"a.png", "b.png", "c.png", "--resume"}));
  EXPECT_EQ(blurs(), (Times{1, 1, 1}));
  // The journal is that of the folder.
  ended(0, here({".", "--resume"}));
  ended(0, here({"b.png", "--resume"}));
  ended(0, here({"b.png", "--resume", "--json"}));
  EXPECT_EQ(blurs(), (Times{1, 1, 1}));
  ended(0, here({folder_.path().string()}));
  EXPECT_EQ(blurs(), (Times{2, 2, 2}));
}

TEST_F(InPlace, OneFileByTwoNamesIsRefused) {
  fs::create_symlink("a.png", folder_ / "link.png");
  EXPECT_EQ(ended(2, here({"a.png", "b.png", "link.png"})).err,
            "gpufilter: a.png and link.png: both results would be the same file, because "
            "./link.png is a link to a.png; leave out one of them\n");
  EXPECT_EQ(here({"a.png", "b.png", "./a.png"}).err, "gpufilter: ./a.png: is given twice\n");
  EXPECT_EQ(blurs(), (Times{0, 0, 0}));
  // The link stays, and the picture that it leads to is replaced.
  ended(0, here({"link.png"}));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.png"));
  EXPECT_EQ(blurs(), (Times{1, 0, 0}));
}

TEST_F(InPlace, EveryNameIsAnInput) {
  const auto refusal = [this](const Words& words) {
    const ProcessResult result = ended(2, here(words));
    EXPECT_EQ(blurs(), (Times{0, 0, 0}));
    return result.err;
  };
  EXPECT_EQ(refusal({"a.png", "new.png"}),
            "gpufilter: new.png: no such file or folder; with --in-place every name is an input\n");
  fs::create_directory(folder_ / "more");
  static_cast<void>(stored(image_, "more/d.png"));
  EXPECT_EQ(refusal({"a.png", "b.png", "more"}),
            "gpufilter: more: is a folder; --in-place takes one folder alone, or pictures of one "
            "folder\n");
  EXPECT_EQ(refusal({"a.png", "more/d.png"}),
            "gpufilter: a.png and more/d.png: are in different folders; --in-place takes pictures "
            "of one folder\n");
  EXPECT_EQ(refusal({"-"}), "gpufilter: -: --in-place replaces files, not standard input\n");
  EXPECT_EQ(refusal({}), "gpufilter: INPUT is required (see gpufilter --help)\n");
  ended(1, here({"missing.png"}));
}

TEST_F(InPlace, ReplacesWhateverOnExistsSays) {
  const ProcessOptions fail{.environment = {{"GPUFILTER_ON_EXISTS", "fail"}}};
  ended(0, here({"a.png"}, fail));
  ended(0, here({"a.png", "b.png"}, fail));
  EXPECT_EQ(blurs(), (Times{2, 1, 0}));
}

TEST_F(InPlace, AFailureLeavesThePictureAsItWas) {
  const std::string whole = read_file(folder_ / "b.png");
  write_file(folder_ / "b.png", whole.substr(0, whole.size() - 30));
  ended(1, here({"a.png", "b.png", "c.png"}));
  EXPECT_EQ(read_file(folder_ / "b.png"), whole.substr(0, whole.size() - 30));
  write_file(folder_ / "b.png", whole);
  EXPECT_EQ(blurs(), (Times{1, 0, 1}));
  ended(0, here({"a.png", "b.png", "c.png", "--resume"}));
  EXPECT_EQ(blurs(), (Times{1, 1, 1}));
}

// Nothing to do means nothing done: the file is copied as it is.

struct Copies : BatchTest {
  // A picture that the program did not write: another encoder's bytes, and data behind them.
  std::string foreign(const std::string& name) const {
    put(name, {64, 48});
    const std::string path = in_ + "/" + name;
    std::string bytes = read_file(path);
    if (name.ends_with(".jpg") || name.ends_with(".png")) bytes += std::string(9, '\n');
    write_file(path, bytes);
    return path;
  }

  // The report of a run that copies the file.
  std::string copied(const std::string& path, const Words& more) const {
    const std::string output = folder_ / ("out" + fs::path(path).extension().string());
    fs::remove(output);
    const Words words = Words{path, output, "--device", "cpu"} + more;
    const ProcessResult result = ended(0, filter(words));
    EXPECT_TRUE(read_file(output) == read_file(path)) << ::testing::PrintToString(words);
    return result.err;
  }
};

TEST_F(Copies, OfEveryFormat) {
  for (const Codec* codec : codecs()) {
    if (codec->create == nullptr) continue;
    const std::string name = "a" + codec->extensions.front();
    try {
      static_cast<void>(foreign(name));
    } catch (const Error&) {
      continue;  // this library has no encoder
    }
    // A .pnm holds a PPM.
    if (open_picture(open_source(in_ + "/" + name))->header().file_format != codec) continue;
    SCOPED_TRACE(codec->name);
    EXPECT_TRUE(contains(copied(in_ + "/" + name, {}), " (copied unchanged): 64x48"));
  }
}

// Each of these finds nothing to change in a picture of 64x48 pixels, RGB with 8 bits.
TEST_F(Copies, OfStagesThatChangeNothing) {
  for (const char* name : {"a.jpg", "a.png"}) {
    const std::string path = foreign(name);
    for (const Words& stages : std::vector<Words>{{"--auto-orient"},
                                                  {"--resize", "100x100", "--only", "shrink"},
                                                  {"--resize", "64x48"},
                                                  {"--pad", "0"},
                                                  {"--trim"},
                                                  {"--to-srgb"},
                                                  {"--crop", "64x48+0+0"},
                                                  {"--depth", "8"},
                                                  {"--auto-orient", "--resize", "x48"}}) {
      SCOPED_TRACE(::testing::PrintToString(stages));
      EXPECT_TRUE(contains(copied(path, stages), "copied unchanged"));
    }
  }
}

TEST_F(Copies, WhatAnOptionAsksForIsDone) {
  const std::string path = foreign("a.png");
  for (const Words& options : {Words{"--strip"},
                               {"--keep", "icc"},
                               {"--png-level", "1"},
                               {"--flip"},
                               {"--rotate", "90"}}) {
    EXPECT_FALSE(
        filter_json(0, Words{path, folder_ / "out.png", "--device", "cpu", "--json"} + options)
            .contains("copied"));
    EXPECT_FALSE(read_file(folder_ / "out.png") == read_file(path));
  }
  EXPECT_EQ(Json::parse(filter({path, folder_ / "b.png", "--json"}).out)["copied"], true);
}

// A copy of a damaged file would be damaged.
TEST_F(Copies, OfADamagedFileFail) {
  for (const char* name : {"a.jpg", "a.png", "a.ppm"}) {
    const std::string path = foreign(name);
    const std::string bytes = read_file(path);
    write_file(path, bytes.substr(0, bytes.size() / 2));
    expect_failure(1, {path, folder_ / ("out" + fs::path(name).extension().string())}, {path});
  }
}

TEST_F(Copies, KeepWhatStandsBehindThePicture) {
  const std::string path = in_ + "/film.jpg";
  write_file(path, read_file(GPUFILTER_SOURCE "/tests/cases/jpeg-motion-photo-trailer.jpg"));
  EXPECT_EQ(copied(path, {"-q"}), "");
}

TEST_F(Copies, InPlaceTheFileStays) {
  const std::string path = foreign("a.jpg");
  const std::string bytes = read_file(path);
  const auto identity = fs::last_write_time(path);
  for (const std::string& input : {path, in_}) {
    EXPECT_TRUE(
        contains(ended(0, filter({input, "--in-place", "--auto-orient", "--device", "cpu"})).err,
                 "unchanged"));
    EXPECT_EQ(read_file(path), bytes);
    EXPECT_EQ(fs::last_write_time(path), identity);
  }
}

TEST_F(Copies, InFoldersAreCounted) {
  put("a.png", {64, 48});
  put("b.png", {64, 50});
  EXPECT_TRUE(contains(ended(0, filter({in_, out_, "--crop", "64x48+0+0", "--device", "cpu"})).err,
                       ": 2 pictures done (1 copied unchanged)\n"));
  EXPECT_EQ(read_file(out_ + "/a.png"), read_file(in_ + "/a.png"));
  EXPECT_TRUE(
      contains(filter({in_, out_, "--crop", "64x48+0+0", "--device", "cpu", "--resume"}).err,
               "2 unchanged since an earlier run"));
}

// One output of several is a copy.
TEST_F(Copies, BesidesOtherOutputs) {
  const std::string path = foreign("a.png");
  const std::string whole = folder_ / "whole.png";
  const std::string small = folder_ / "small.png";
  EXPECT_EQ(
      filter({path, small, "--output", whole, "--resize", "50%", "--device", "cpu", "-q"}).err, "");
  EXPECT_EQ(read_file(whole), read_file(path));
  EXPECT_EQ(read_picture(small).size(), (ImageSize{32, 24}));
}

}  // namespace
}  // namespace gpufilter::test
