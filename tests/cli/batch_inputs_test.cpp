// Inputs of a run over many pictures: files, folders and lists; and options for their formats.

#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter::test {
namespace {

// "gpufilter INPUT... OUTDIR": several inputs, files and folders.

struct BatchInputs : BatchTest {
  void SetUp() override {
    BatchTest::SetUp();
    fs::create_directory(out_);
    put("a.png");
    put("b.jpg");
    put("c.png");
  }

  // A blur of `inputs` to out_, all named relative to the test's folder.
  [[nodiscard]] ProcessResult several(Words inputs, const Words& more = {}) const {
    inputs.emplace_back("out");
    inputs.insert(inputs.end(), {"--blur", "auto", "--device", "cpu", "--timing", "off"});
    inputs = inputs + more;
    return filter(inputs, {.folder = folder_.path()});
  }

  // Expects a refusal: exit code 2, one line with `parts`, nothing changed.
  void expect_refused(const Words& words, const Words& parts) const {
    SCOPED_TRACE(::testing::PrintToString(words));
    const Files before = everything_in(folder_.path());
    const ProcessResult result = ended(2, filter(words, {.folder = folder_.path()}));
    EXPECT_EQ(result.out, "");
    expect_one_line(result.err, parts);
    EXPECT_EQ(everything_in(folder_.path()), before);
  }
};

TEST_F(BatchInputs, GoIntoAFolder) {
  const Files all = undisturbed();
  EXPECT_TRUE(begins(ended(0, several({"in/a.png", "in/b.jpg"})).err,
                     "in/a.png and 1 more input -> out: 2 pictures done\n"));
  EXPECT_EQ(results_in(out_), (Files{{"a.png", all.at("a.png")}, {"b.jpg", all.at("b.jpg")}}));
}

TEST_F(BatchInputs, AreListedAsTheyWereNamed) {
  const Json document = Json::parse(several({"in/c.png", "in/a.png", "in/b.jpg"}, {"--json"}).out);
  EXPECT_EQ(document["inputs"], (Words{"in/c.png", "in/a.png", "in/b.jpg"}));
  EXPECT_FALSE(document.contains("input"));
  Words inputs;
  for (const Json& picture : document["pictures"])
    inputs.push_back(picture["input"]);
  EXPECT_EQ(inputs, document["inputs"].get<Words>());
}

TEST_F(BatchInputs, MayBeFoldersToo) {
  put("deep/d.png");
  fs::create_directory(folder_ / "more");
  fs::copy(in_ + "/a.png", folder_ / "more/e.png");
  ended(0, several({"in", "more/e.png"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"a.png", "b.jpg", "c.png", "e.png"}));
  ended(0, several({"more", "in"}, {"--recursive", "--resume"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"a.png", "b.jpg", "c.png", "deep/d.png", "e.png"}));
}

TEST_F(BatchInputs, AreResumed) {
  ended(0, several({"in/a.png", "in/b.jpg"}));
  expect_refused({"in/a.png", "in/b.jpg", "out", "--blur", "auto"},
                 {"out/a.png: already exists", "--resume"});
  EXPECT_EQ(statuses(Json::parse(several({"in/a.png", "in/c.png"}, {"--resume", "--json"}).out)),
            (Words{"unchanged", "done"}));
  // A different picture with the same name counts as a different picture.
  fs::create_directory(folder_ / "more");
  fs::copy(in_ + "/c.png", folder_ / "more/a.png");
  EXPECT_EQ(statuses(Json::parse(several({"more/a.png", "in/c.png"}, {"--resume", "--json"}).out)),
            (Words{"done", "unchanged"}));
}

TEST_F(BatchInputs, OneMayHaveTheOptionsOfSeveral) {
  EXPECT_EQ(statuses(Json::parse(ended(0, several({"in/a.png"}, {"--json"})).out)), Words{"done"});
}

TEST_F(BatchInputs, OneFailureLeavesTheOthersAlone) {
  write_file(folder_ / "note.png", "text");
  write_file(folder_ / "empty.png", "");
  expect_parts(ended(1, several({"empty.png", "in/a.png", "note.png"}, {"-q"})).err,
               {"gpufilter: empty.png: the file is empty\n",
                "gpufilter: note.png: not a " + gpufilter::names_of(codecs()) + " picture\n"});
  EXPECT_EQ(names_of(results_in(out_)), Words{"a.png"});
}

TEST_F(BatchInputs, WithOneResultForTwoAreRefused) {
  fs::create_directory(folder_ / "more");
  fs::copy(in_ + "/c.png", folder_ / "more/a.png");
  expect_refused({"in/a.png", "more/a.png", "out"},
                 {"in/a.png and more/a.png: both would become out/a.png"});
  expect_refused({"in/a.png", "more", "out"},
                 {"in/a.png and more/a.png: both would become out/a.png"});
  expect_refused({"in/a.png", "in/../in/a.png", "out"}, {"in/../in/a.png: is given twice"});
  expect_refused({"in", "in/a.png", "out"}, {"in/a.png: is given twice"});
}

TEST_F(BatchInputs, NeedAFolderAndAreNeverReplaced) {
  const Words remedy{"in/c.png: is not a folder", "gpufilter in/a.png ... OUTDIR"};
  expect_refused({"in/a.png", "in/b.jpg", "in/c.png"}, remedy);
  expect_refused({"in/a.png", "in/b.jpg", "in/c.png", "--blur", "auto"}, remedy);
  expect_refused({"in/a.png", "in/b.jpg", "new.png"},
                 {"new.png: no such folder; several inputs need a folder for their results, and "
                  "new.png/ creates it"});
  expect_refused({"in/a.png", "in/b.jpg", "-"}, {"-: several pictures go to a folder"});
  expect_refused({"in/a.png", "in/c.png", "in", "--on-exists", "overwrite"},
                 {"in/a.png: input and output are the same file; --in-place replaces the inputs"});
  expect_refused({"in/a.png", "in/c.png", "in", "--in-place"},
                 {"in: is a folder; --in-place takes one folder alone, or pictures of one folder"});
  expect_refused({"in", "out", "in"}, {"in: input and output are the same folder"});
  expect_refused({"in/a.png", "-", "out"}, {"-: standard input has no name"});
  expect_refused({"in/a.png", "in/c.png", "out", "--recursive"},
                 {"--recursive: is for folders, but no input is a folder"});
  expect_refused({"nowhere", "in/a.png", "out", "--recursive"},
                 {"nowhere: no such file or folder"});
  expect_refused({"in/a.png", "in/c.png", "out", "--match", "*"}, {"--match: is for folders"});
}

TEST_F(BatchInputs, ALinkAmongThemIsNamed) {
  const fs::path in = in_;
  fs::create_symlink("a.png", in / "link.png");
  expect_refused({"in/a.png", "in/c.png", "in/link.png", "in/"},
                 {"gpufilter: in/a.png and in/link.png: both results would be the same file, "
                  "because in/link.png is a link to a.png; leave out one of them\n"});
  fs::create_symlink("../in/b.jpg", in / "other.jpg");
  expect_refused({"in/other.jpg", "in/c.png", "in/"},
                 {"gpufilter: in/other.jpg: input and output are the same file (in/other.jpg is a "
                  "link to ../in/b.jpg); --in-place replaces the inputs\n"});
  fs::create_symlink("../in/a.png", fs::path(out_) / "c.png");
  expect_refused({"in/a.png", "in/c.png", "out"},
                 {"gpufilter: out/c.png: is an input of this run (out/c.png is a link to "
                  "../in/a.png); in/c.png would replace it\n"});
}

TEST_F(BatchInputs, ThatSayNoFormatNeedOne) {
  fs::copy(in_ + "/a.png", folder_ / "scan");
  expect_refused({"in/c.png", "scan", "out"},
                 {"scan: the name does not end in " + extensions_of(codecs()), "--to"});
  ended(0, several({"in/c.png", "scan"}, {"--to", "png"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"c.png", "scan.png"}));
}

// --exclude, files that are never read, and --keep-time.

struct Exclude : BatchTest {
  [[nodiscard]] Words results(const Words& more) const {
    fs::remove_all(out_);
    EXPECT_EQ(good_batch(more + Words{"--recursive", "-q"}).err, "");
    return names_of(results_in(out_));
  }
};

TEST_F(Exclude, NamesAndPaths) {
  for (const char* name : {"a.png", "b.png", "raw/c.png", "sub/raw/d.png", "sub/a.png"})
    put(name);
  EXPECT_EQ(results({}), (Words{"a.png", "b.png", "raw/c.png", "sub/a.png", "sub/raw/d.png"}));
  EXPECT_EQ(results({"--exclude", "A.png"}), (Words{"b.png", "raw/c.png", "sub/raw/d.png"}));
  EXPECT_EQ(results({"--exclude", "raw/"}), (Words{"a.png", "b.png", "sub/a.png"}));
  EXPECT_EQ(results({"--exclude", "/raw", "--exclude", "sub/*.png"}),
            (Words{"a.png", "b.png", "sub/raw/d.png"}));
  EXPECT_EQ(results({"--exclude", "**/raw/**", "--match", "[ad]*"}), (Words{"a.png", "sub/a.png"}));
}

TEST_F(Exclude, OfSharesToo) {
  put("a.png");
  put("b.png");
  for (const char* share : {"0/2", "1/2"})
    EXPECT_EQ(good_batch({"--exclude", "b*", "--shard", share, "-q"}).err, "");
  EXPECT_TRUE(fs::exists(out_ + "/a.png"));
  EXPECT_FALSE(fs::exists(out_ + "/b.png"));
}

TEST_F(Exclude, WhatProgramsKeepBesidePicturesIsNeverRead) {
  put("a.png");
  put("@eaDir/a.png/thumb.jpg");
  write_file(in_ + "/._a.png", "Mac OS X        ");
  write_file(in_ + "/Thumbs.db", "JPEG inside");
  write_file(in_ + "/.DS_Store", "Bud1");
  EXPECT_EQ(results({}), Words{"a.png"});
  const std::string list = folder_ / "list";
  write_file(list, "@eaDir/a.png/thumb.jpg\n._a.png\na.png\n");
  fs::remove_all(out_);
  EXPECT_EQ(statuses(json_batch({"--list", list})), Words{"done"});
}

TEST_F(Exclude, IsForFolders) {
  put("a.png");
  expect_failure(2, {in_ + "/a.png", in_, out_ + "/", "--list", "-", "--exclude", "a"}, {"--list"});
  expect_failure(2, {in_ + "/a.png", out_ + "/", "--exclude", "a"},
                 {"--exclude: is for folders, but no input is a folder"});
  EXPECT_TRUE(contains(ended(0, batch({"--exclude", "*.png"})).err,
                       in_ + ": contains 1 picture, and --exclude skips it"));
}

TEST_F(Exclude, KeepTimeGivesResultsTheTimeOfTheirInputs) {
  put("a.png");
  put("b.jpg");
  const auto time = fs::last_write_time(in_ + "/a.png") - std::chrono::hours(1000);
  for (const char* name : {"/a.png", "/b.jpg"})
    fs::last_write_time(in_ + name, time);
  ended(0, batch({"--keep-time"}));
  EXPECT_EQ(fs::last_write_time(out_ + "/a.png"), time);
  EXPECT_EQ(fs::last_write_time(out_ + "/b.jpg"), time);
  EXPECT_EQ(statuses(json_batch({"--keep-time", "--resume"})), (Words{"unchanged", "unchanged"}));
  const std::string path = in_ + "/a.png";
  ended(0, filter({path, folder_ / "copy.png", "--keep-time"}));
  EXPECT_EQ(fs::last_write_time(folder_ / "copy.png"), time);
  ended(0, filter({path, "--in-place", "--flip", "--keep-time"}));
  EXPECT_EQ(fs::last_write_time(path), time);
  ended(0, filter({path, "--in-place", "--flip"}));
  EXPECT_GT(fs::last_write_time(path), time);
  expect_failure(2, {"-", folder_ / "x.png", "--keep-time"}, {"--keep-time: '-'"});
}

// --list: folders with a given list of pictures.

struct Lists : ShardTest {
  void SetUp() override {
    ShardTest::SetUp();
    put_many(4);
    put("sub/b.jpg", {60, 50});
    put("sub/odd\nname.png");
    write_file(in_ + "/text.txt", "text");
    write_file(in_ + "/.hidden.png", "text");
    expected_ = undisturbed({"--recursive"});
  }

  // The output of find for the folder.
  [[nodiscard]] std::string found(const std::string& format) const {
    return run_process({"find", in_, "-type", "f", "-printf", format}).out;
  }

  std::string list_ = folder_ / "list";
  Files expected_;
};

TEST_F(Lists, StandForTheFolder) {
  for (const char* format : {"%s\\t%P\\0", "%P\\0"}) {
    write_file(list_, found(format));
    ended(0, batch({"--list", list_}));
    EXPECT_TRUE(results_in(out_) == expected_) << format;
    fs::remove_all(out_);
    run_shards(3, {"--list", list_});
    EXPECT_TRUE(pictures_in(out_) == expected_) << format;
    fs::remove_all(out_);
  }
}

// As editors for Windows write them.
TEST_F(Lists, MayBeginWithAByteOrderMark) {
  put("png-cicp-display-p3.png");
  EXPECT_EQ(statuses(json_batch({"--list", GPUFILTER_SOURCE "/tests/cases/list-with-bom.txt"})),
            Words{"done"});
  write_file(list_, std::string("\xFF\xFEp\0n\0g\0", 8));
  expect_refusal({"--list", list_}, {list_ + ": is UTF-16; save the list as UTF-8"});
}

TEST_F(Lists, ComeThroughAPipe) {
  const std::string names = found("%s\\t%P\\0");
  ended(0, batch({"--list", "-"}, {.input = names}));
  EXPECT_TRUE(results_in(out_) == expected_);
  fs::remove_all(out_);
  run_shards(2, {"--list", "-"}, {.input = names});
  EXPECT_TRUE(pictures_in(out_) == expected_);
}

TEST_F(Lists, NameWhatIsDone) {
  write_file(list_, "./p101.png\nsub/b.jpg\ngone.png\n");
  const Json document = json_batch({"--list", list_}, 1);
  EXPECT_EQ(statuses(document), (Words{"failed", "done", "done"}));
  EXPECT_EQ(document["pictures"][0]["error"], in_ + "/gone.png: no such file");
  EXPECT_EQ(names_of(results_in(out_)), (Words{"p101.png", "sub/b.jpg"}));
}

// Pictures that are not listed are not found: the folder cannot even be read.
TEST_F(Lists, TheFolderIsNotSearched) {
  if (geteuid() == 0) GTEST_SKIP() << "skipped: the superuser may read everything";
  write_file(list_, "1\tp101.png\n");
  fs::permissions(in_, fs::perms::owner_exec);
  ended(0, shard(0, 1, {"--list", list_}));
  fs::permissions(in_, fs::perms::owner_all);
}

TEST_F(Lists, TheSizesInThemDecideTheShares) {
  write_file(list_, "1000\tp100.png\n1\tp101.png\n1\tp102.png\n1\tp103.png\n");
  const Json document = json_shard(0, 2, {"--list", list_});
  ASSERT_EQ(document["pictures"].size(), 1U);
  EXPECT_EQ(document["pictures"][0]["input"], in_ + "/p100.png");
  EXPECT_EQ(document["shard"]["all_input_bytes"], 1003);
}

TEST_F(Lists, AreThoseThatTheRunBeganWith) {
  write_file(list_, found("%s\\t%P\\0"));
  ended(0, shard(0, 2, {"--list", list_}));
  write_file(list_, found("%s\\t%P\\0") + std::string("1\tlater.png") + '\0');
  expect_refusal({"--list", list_, "--shard", "1/2"},
                 {"names or sizes differ", "leave out --list"});
  // The run keeps its listing, so later shards do not need the list.
  ended(0, shard(1, 2));
  EXPECT_TRUE(pictures_in(out_) == expected_);
}

TEST_F(Lists, ResultsInTheFolderAreNotPictures) {
  out_ = in_ + "/results";
  for (int round = 0; round < 2; ++round) {
    write_file(list_, found("%s\\t%P\\0"));
    ended(0, batch({"--list", list_, "--resume"}));
    EXPECT_TRUE(results_in(out_) == expected_);
  }
}

TEST_F(Lists, AreRefusedWhereTheyMakeNoSense) {
  write_file(list_, "p101.png\n");
  expect_refusal({"--list", list_, "--recursive"}, {"--recursive: has no effect with --list"});
  expect_refusal({"--list", list_, "--match", "*"}, {"--match: has no effect with --list"});
  expect_failure(2, {in_ + "/p100.png", out_ + "/", "--list", list_},
                 {"--list: is for one folder"});
  write_file(list_, in_ + "/p101.png\n");
  expect_refusal({"--list", list_}, {list_ + ": '" + in_, "is not a path below "});
  // The default output of find.
  write_file(list_, "in/p101.png\n");
  expect_one_line(ended(2, filter({"in", "out", "--list", "list"}, {.folder = folder_.path()})).err,
                  {"list: 'in/p101.png' is not below in, but in/p101.png exists"});
  ended(1, batch({"--list", folder_ / "missing"}));
  EXPECT_FALSE(fs::exists(out_));
}

// Options of formats if a folder's outputs have several formats, or none that takes them.

struct BatchFormats : BatchTest {
  [[nodiscard]] std::string complaints(const Words& more) const {
    const std::string err =
        good_batch(more + Words{"--timing", "off", "--on-exists", "overwrite"}).err;
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

TEST_F(BatchFormats, WhatNoPictureNeedsBringsAWarning) {
  expect_one_line(complaints({"--quality", "80"}), {"no picture"});
  put("a.png");
  put("b.jpg");
  EXPECT_EQ(complaints({"--quality", "80", "--png-level", "1", "--subsampling", "422"}), "");
  EXPECT_EQ(complaints({"--to", "jpg", "--quality", "80"}), "");
  expect_one_line(complaints({"--background", "red"}),
                  {"--background has no effect on any of the 2 pictures"});
  write_png(random_image({9, 7}, {4, 8}, 1), in_ + "/alpha.png");
  // The result of the transparent picture is different.
  EXPECT_FALSE(contains(complaints({"--background", "red", "--to", "jpg"}), "no effect"));
}

// Empty files of their names hide the libraries of formats.
struct BatchWithoutLibraries : BatchTest {
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
  ended(0, batch({}, without_tiff_));
  // The record of finished pictures does not depend on the library either.
  const Files before = everything_in(out_);
  ended(0, good_batch({"--resume"}));
  EXPECT_EQ(everything_in(out_), before);
}

TEST_F(BatchWithoutLibraries, OnlyPicturesThatNeedThemFail) {
  put("a.png");
  put("b.tif");
  EXPECT_TRUE(
      contains(ended(1, batch({"--timing", "off", "-q"}, without_tiff_)).err, "b.tif: TIFF"));
  EXPECT_TRUE(fs::exists(out_ + "/a.png"));
  EXPECT_FALSE(fs::exists(out_ + "/b.tif"));
  // With the library, the rest is done.
  EXPECT_EQ(statuses(json_batch({"--resume"})), (Words{"unchanged", "done"}));
}

TEST_F(BatchWithoutLibraries, ShardsDoNotNeedThem) {
  put("a.png");
  ended(0, batch({"--shard", "0/1"}, without_tiff_));
}

}  // namespace
}  // namespace gpufilter::test
