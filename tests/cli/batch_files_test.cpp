// Folders of pictures: selection, names of results, and existing files.

#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {
namespace {

class BatchFiles : public BatchTest {};

TEST_F(BatchFiles, EveryPictureIsFiltered) {
  put("a.png");
  put("b.jpg");
  write_file(in_ + "/note.txt", "no picture");
  const ProcessResult result = good_batch();
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(begins(result.err, in_ + " -> " + out_ + ": 2 pictures done\n"));
  EXPECT_EQ(names_in(out_), (Words{".gpufilter-journal", "a.png", "b.jpg"}));
  EXPECT_TRUE(same_pixels(read_picture(out_ + "/a.png"), blurred(read_picture(in_ + "/a.png"))));
  filter_quietly({in_ + "/b.jpg", folder_ / "single.jpg", "--blur", "auto"});
  EXPECT_EQ(read_file(out_ + "/b.jpg"), read_file(folder_ / "single.jpg"));
}

TEST_F(BatchFiles, JobsThreadsAndMemoryDoNotShow) {
  put_many(5, {301, 211});
  put("b.jpg", {301, 211});
  const Files expected = undisturbed({"--jobs", "1"});
  EXPECT_EQ(expected.size(), 6U);
  for (const Words& way : {Words{"--threads", "1"},
                           {"--jobs", "2"},
                           {"--jobs", "7"},
                           {"--threads", "2", "--jobs", "1"},
                           {"--threads", "7", "--jobs", "3"},
                           {"--max-memory", "1M"},
                           {"--max-memory", "1", "--jobs", "2"},
                           {"--max-memory", "1G"}}) {
    EXPECT_TRUE(undisturbed(way) == expected) << ::testing::PrintToString(way);
  }
}

TEST_F(BatchFiles, TwoPicturesWithOneResultAreRefused) {
  put("a.jpg");
  put("a.png");
  expect_refusal({"--to", "png"}, {"in/a.jpg and ", "in/a.png: ", "out/a.png"});
  ended(0, batch());
}

TEST_F(BatchFiles, TwoFoldersThatAreOneAreRefused) {
  put("x/a.png");
  put("y/a.png");
  fs::create_directory(out_);
  fs::create_directory(out_ + "/x");
  fs::create_directory_symlink("x", out_ + "/y");
  expect_refusal({"--recursive"}, {"in/x/a.png and ", "in/y/a.png: ", "out/y/a.png"});
}

TEST_F(BatchFiles, ResultsAreNotTakenForInputs) {
  put("a.png");
  put("results/mine.png");
  out_ = in_ + "/results";
  for (int i = 0; i < 2; ++i) {
    ended(0, batch({"--recursive", "--on-exists", "overwrite"}));
    EXPECT_EQ(names_of(results_in(in_)), (Words{"a.png", "results/a.png", "results/mine.png"}));
  }
}

TEST_F(BatchFiles, AnInputIsNeverAResult) {
  put("in/a.png");
  put("a.png");
  out_ = folder_.path();
  const std::string before = read_file(in_ + "/a.png");
  expect_one_line(
      ended(2, filter({in_, folder_.path(), "--recursive", "--on-exists", "overwrite"})).err,
      {"in/a.png: is an input", "in/in/a.png would"});
  EXPECT_EQ(read_file(in_ + "/a.png"), before);
}

TEST_F(BatchFiles, OneFolderNeedsInPlace) {
  put("a.png");
  const Image before = read_picture(in_ + "/a.png");
  out_ = folder_ / "in/../in";
  expect_refusal({}, {"in/../in: ", "--in-place"});
  ended(0, batch({"--in-place"}));
  EXPECT_TRUE(same_pixels(read_picture(in_ + "/a.png"), blurred(before)));
  EXPECT_EQ(names_in(in_), (Words{".gpufilter-journal", "a.png"}));
}

TEST_F(BatchFiles, InPlaceReplacesOnlyInputs) {
  put("a.png");
  write_file(in_ + "/a.jpg", "not a picture, and mine");
  out_ = in_;
  expect_refusal({"--in-place", "--to", "jpg", "-q"}, {"a.jpg: already exists"});
}

TEST_F(BatchFiles, InPlaceThroughALinkHasOneWriter) {
  put("a.png");
  fs::create_symlink("a.png", in_ + "/b.png");
  out_ = in_;
  expect_refusal({"--in-place"}, {"a.png and ", "b.png is a link to a.png; leave out one of them"});
}

TEST_F(BatchFiles, OnExistsFailsBeforeAnyWork) {
  put("a.png");
  put("b.png");
  fs::create_directory(out_);
  write_file(out_ + "/b.png", "before");
  expect_refusal({}, {"out/b.png: already exists", "--on-exists overwrite", "--resume"});
  expect_refusal({"--on-exists", "fail"}, {"out/b.png"});
  EXPECT_EQ(statuses(json_batch({"--on-exists", "skip"})), (Words{"done", "exists"}));
  EXPECT_EQ(read_file(out_ + "/b.png"), "before");
  EXPECT_EQ(statuses(json_batch({"--on-exists", "overwrite"})), (Words{"done", "done"}));
  EXPECT_TRUE(same_pixels(read_picture(out_ + "/b.png"), blurred(read_picture(in_ + "/b.png"))));
}

TEST_F(BatchFiles, TheOutputIsAFolder) {
  put("a.png");
  write_file(folder_ / "file", "");
  out_ = folder_ / "file";
  expect_refusal(
      {}, {"file: is not a folder; the pictures in " + in_ + " need a folder for their results"});
  out_ = "-";
  expect_refusal({}, {"-: several pictures go to a folder, not to standard output"});
}

TEST_F(BatchFiles, DryRunTouchesNothing) {
  put("a.png");
  put("sub/b.png");
  fs::create_directory(out_);
  write_file(out_ + "/.a.png.gpufilter-1-0123abcd", "left by a killed run");
  const Files before = everything_in(folder_.path());
  EXPECT_EQ(good_batch({"--dry-run", "--recursive", "--to", "jpg"}).out,
            in_ + "/a.png -> " + out_ + "/a.jpg: would be done\n" + in_ + "/sub/b.png -> " + out_ +
                "/sub/b.jpg: would be done\n");
  EXPECT_EQ(statuses(json_batch({"--dry-run", "--recursive"})), (Words{"planned", "planned"}));
  EXPECT_EQ(everything_in(folder_.path()), before);
}

TEST_F(BatchFiles, DryRunKnowsWhatResumeWouldDo) {
  put("a.png");
  ended(0, batch());
  put("b.png");
  const Files before = everything_in(folder_.path());
  EXPECT_EQ(statuses(json_batch({"--dry-run", "--resume"})), (Words{"unchanged", "planned"}));
  EXPECT_EQ(everything_in(folder_.path()), before);
  expect_refusal({"--dry-run"}, {"a.png: already exists"});
}

TEST_F(BatchFiles, OptionsForFoldersAreRefusedForOnePicture) {
  put("a.png");
  for (const Words& option : {Words{"--recursive"}, Words{"--match", "*"}, Words{"--jobs", "2"},
                              Words{"--resume"}, Words{"--stop-on-error"}}) {
    expect_failure(2, Words{in_ + "/a.png", folder_ / "out.png"} + option,
                   {option[0] + " is for results in a folder", "out.png is not a folder"});
  }
  expect_refusal({"--jobs", "0"}, {"--jobs"});
  expect_refusal({"--to", "gif"}, {"--to"});
}

TEST_F(BatchFiles, TheSameBytesOnEveryDevice) {
  GPUFILTER_REQUIRE_DEVICE();
  put_many(4, {61, 53});
  const Files expected = undisturbed();
  for (const std::string device : {"auto", "opencl", "all"}) {
    fs::remove_all(out_);
    const ProcessResult result = ended(
        0, filter({in_, out_, "--blur", "auto", "--device", device, "--timing", "off", "-q"}));
    EXPECT_EQ(results_in(out_), expected) << device;
    // Without a GPU, a warning says which device does the work.
    const bool warns = device == "all" && !has_device("gpu");
    EXPECT_EQ(result.err.find("no GPU found") != std::string::npos, warns) << result.err;
  }
}

// Grids of many sizes at the same time, which crash PoCL without LaunchGate: one round in seven
// then fails.
TEST_F(BatchFiles, PicturesOfManySizesAtATime) {
  GPUFILTER_REQUIRE_DEVICE();
  std::mt19937 random(1);
  std::uniform_int_distribution<int> width(20, 300);
  std::uniform_int_distribution<int> height(20, 1500);
  for (int i = 0; i < 60; ++i)
    put(formatted("p{}.png", 100 + i), {width(random), height(random)});
  const Words stages{"--blur", "naive"};
  const Files expected = undisturbed(stages);
  for (int round = 0; round < 5; ++round) {
    filter_quietly({in_, out_, "--blur", "naive", "--blur", "naive", "--jobs", "8", "--on-exists",
                    "overwrite"},
                   optimised());
    EXPECT_EQ(results_in(out_), expected);
  }
}

// The files of a folder that are filtered, and the names of the results.

class BatchNames : public BatchTest {};

TEST_F(BatchNames, MatchPicksNamesInAnyCase) {
  put("a.png");
  put("b.jpg");
  put("sub/c.PNG");
  put("D.PNG");
  ended(0, batch({"--recursive", "--match", "*.JPG", "--match", "c*"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"b.jpg", "sub/c.PNG"}));
  ended(0, batch({"--match", "*.PNG"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"D.PNG", "a.png", "b.jpg", "sub/c.PNG"}));
}

TEST_F(BatchNames, ToSetsTheFormat) {
  put("a.png");
  put("b.jpg");
  put("c.JPEG");
  fs::copy(in_ + "/a.png", in_ + "/liar.jpg");
  ended(0, batch({"--to", "png"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"a.png", "b.png", "c.png", "liar.png"}));
  for (const auto& [name, bytes] : results_in(out_))
    EXPECT_EQ(bytes.substr(1, 3), "PNG") << name;
  out_ = folder_ / "jpg";
  ended(0, batch({"--to", "jpg", "--match", "[abc].*"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"a.jpg", "b.jpg", "c.JPEG"}));
  for (const auto& [name, bytes] : results_in(out_))
    EXPECT_EQ(bytes.substr(0, 3), "\xff\xd8\xff") << name;
}

// The content decides what is read, the name what is written: in a folder as for one picture.
TEST_F(BatchNames, ANameThatLiesGivesTheSameResultInAFolderAndAlone) {
  put("a.png");
  put("b.jpg");
  fs::rename(in_ + "/a.png", in_ + "/liar.jpg");
  fs::rename(in_ + "/b.jpg", in_ + "/liar.png");
  ended(0, batch());
  EXPECT_EQ(names_of(results_in(out_)), (Words{"liar.jpg", "liar.png"}));
  EXPECT_EQ(read_file(out_ + "/liar.jpg").substr(0, 3), "\xff\xd8\xff");
  EXPECT_EQ(read_file(out_ + "/liar.png").substr(1, 3), "PNG");
  fs::create_directory(folder_ / "alone");
  for (const char* name : {"/liar.jpg", "/liar.png"})
    filter_quietly({in_ + name, folder_ / "alone", "--blur", "auto"});
  EXPECT_EQ(results_in(folder_ / "alone"), results_in(out_));
}

TEST_F(BatchNames, OtherNamesAreNotConsidered) {
  put("a.png");
  fs::copy(in_ + "/a.png", in_ + "/picture.dat");
  write_file(in_ + "/note.txt", "text");
  const ProcessResult result = good_batch({"--timing", "off"});
  EXPECT_EQ(names_of(results_in(out_)), Words{"a.png"});
  EXPECT_TRUE(
      begins(result.err, in_ + " -> " + out_ +
                             ": 1 picture done; 1 file of another format skipped (1 PNG not "
                             "named .png)\n"));
}

TEST_F(BatchNames, LinksToFoldersAreFollowedOnlyWhenAsked) {
  put("sub/a.png");
  const TemporaryFolder elsewhere;
  fs::copy(in_ + "/sub/a.png", elsewhere / "b.png");
  fs::create_directory_symlink(elsewhere.path(), in_ + "/away");
  fs::create_directory_symlink("..", in_ + "/sub/up");
  fs::create_symlink(elsewhere / "b.png", in_ + "/file.png");
  ended(0, batch({"--recursive"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"file.png", "sub/a.png"}));
  ended(0, batch({"--recursive", "--follow-links", "--resume"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"away/b.png", "file.png", "sub/a.png"}));
  expect_refusal({"--follow-links"}, {"--follow-links: has no effect without --recursive"});
}

TEST_F(BatchNames, VerboseNamesSkippedFoldersAndTheOptionThatEntersThem) {
  put("a.png");
  fs::create_directories(in_ + "/sub");
  fs::create_directory_symlink("sub", in_ + "/link");
  const ProcessResult flat = good_batch({"-v"});
  for (const std::string line :
       {"sub: is a folder, skipped; --recursive enters it\n",
        "link: is a link to a folder, skipped; --recursive --follow-links enters it\n"})
    EXPECT_TRUE(contains(flat.err, "gpufilter: " + in_ + "/" + line));
  EXPECT_TRUE(contains(good_batch({"-v", "--recursive", "--resume"}).err,
                       "link: is a link to a folder, skipped; --follow-links enters it\n"));
}

TEST_F(BatchNames, RecursiveMirrorsTheTree) {
  put("a.png");
  put("sub/deep/b.png");
  put("sub/.hidden.png");
  put(".hidden/c.png");
  fs::create_directory(in_ + "/empty");
  ended(0, batch({"-q"}));
  EXPECT_EQ(names_of(results_in(out_)), Words{"a.png"});
  ended(0, batch({"-q", "--recursive", "--on-exists", "skip"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"a.png", "sub/deep/b.png"}));
  EXPECT_FALSE(fs::exists(out_ + "/empty"));
}

TEST_F(BatchNames, NothingToDoIsDoneAtOnceAndExplained) {
  EXPECT_EQ(good_batch({"-q"}).err, "");
  EXPECT_TRUE(contains(good_batch().err, "in: contains no picture\n"));
  EXPECT_EQ(statuses(json_batch()), Words{});
  put("sub/a.png");
  EXPECT_TRUE(contains(good_batch().err,
                       "in: contains no picture; --recursive searches its subfolder too\n"));
  put("b.png");
  EXPECT_TRUE(contains(good_batch({"--match", "*.tif", "--match", "x*"}).err,
                       "in: contains 1 picture, but none matches --match '*.tif' or 'x*'\n"));
}

// --name: names of results made from a template.

class BatchTemplates : public ShardTest {};

TEST_F(BatchTemplates, SolveCollisions) {
  put("a.jpg");
  put("a.png");
  put("sub/b.png");
  expect_refusal({"--to", "jpg", "--recursive"},
                 {in_ + "/a.jpg and " + in_ + "/a.png: both would become " + out_ +
                  "/a.jpg; --name '{stem}-{ext}.{to}' gives each its own name\n"});
  ended(0, batch({"--to", "jpg", "--recursive", "--name", "{stem}-{ext}.{to}"}));
  const Files results = results_in(out_);
  EXPECT_EQ(names_of(results), (Words{"a-jpg.jpg", "a-png.jpg", "sub/b-png.jpg"}));
  for (const auto& [name, bytes] : results)
    EXPECT_EQ(bytes.substr(0, 3), "\xff\xd8\xff") << name;
}

TEST_F(BatchTemplates, SolveCollisionsOfSeveralFolders) {
  put("a.png");
  put("one/x.png");
  put("two/x.png");
  put("two/x.jpg");
  const Words inputs{in_ + "/one", in_ + "/two"};
  const auto run = [&](const Words& more) {
    return filter(Words{inputs[0], inputs[1], out_ + "/", "--blur", "auto", "--device", "cpu"} +
                  more);
  };
  expect_one_line(ended(2, run({})).err,
                  {"; --name '{parent}-{stem}.{to}' gives each its own name\n"});
  expect_one_line(run({"--to", "png"}).err,
                  {"; --name '{parent}-{name}.{to}' gives each its own name\n"});
  ended(0, run({"--to", "png", "--name", "{parent}-{name}.{to}"}));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"one-x.png.png", "two-x.jpg.png", "two-x.png.png"}));
}

TEST_F(BatchTemplates, AreRefusedBeforeAnyWork) {
  put("a.png");
  expect_refusal({"--name", "{stme}.png"},
                 {"--name '{stme}.png': {stme} at character 1 is unknown; did you mean {stem}?\n"});
  expect_refusal({"--name", "../{name}"},
                 {"--name '../{name}': '..' at character 1 is not a name in the output folder\n"});
  expect_refusal({"--name", "{stem}.gif"},
                 {in_ + "/a.png would become 'a.gif', which does not end"});
  fs::remove_all(out_);
  out_ = in_;
  expect_refusal({"--in-place", "--name", "{name}"}, {"--name: not possible with --in-place"});
}

TEST_F(BatchTemplates, AreResumed) {
  put_many(2);
  const Words words{"--name", "{ext}/{stem}-soft.{to}", "--json"};
  ended(0, batch(words));
  EXPECT_EQ(names_of(results_in(out_)), (Words{"png/p100-soft.png", "png/p101-soft.png"}));
  put("p102.png");
  EXPECT_EQ(statuses(json_batch({"--name", "{ext}/{stem}-soft.{to}", "--resume"})),
            (Words{"unchanged", "unchanged", "done"}));
  EXPECT_EQ(statuses(json_batch({"--resume"})), (Words{"done", "done", "done"}));
}

TEST_F(BatchTemplates, AreSharedByShards) {
  put_many(3);
  put("sub/x.jpg");
  const Words words{"--recursive", "--name", "{parent}_{stem}.{to}", "--to", "png"};
  ended(0, shard(0, 2, words));
  EXPECT_EQ(shard(1, 2, {"--recursive", "--to", "png"}).exit_code, 2) << "another run";
  ended(0, shard(1, 2, words));
  ended(0, filter({"gather", out_}));
  EXPECT_EQ(names_of(results_in(out_)),
            (Words{"in_p100.png", "in_p101.png", "in_p102.png", "sub/sub_x.png"}));
}

TEST_F(BatchTemplates, NameOnePictureInAFolder) {
  put("a.jpg");
  filter_quietly({in_ + "/a.jpg", out_ + "/", "--name", "{stem}-soft.{to}", "--to", "png"});
  EXPECT_EQ(names_of(results_in(out_)), Words{"a-soft.png"});
  expect_failure(
      2, {in_ + "/a.jpg", folder_ / "b.jpg", "--name", "{stem}.{to}"},
      {"--name: is for results in a folder, and " + (folder_ / "b.jpg") + " is not a folder\n"});
}

// Pictures of other formats in folders.

struct BatchOthers : ShardTest {
  void SetUp() override {
    ShardTest::SetUp();
    put("a.png");
    put("b.jpg");
    for (const char* name : {"c.gif", "d.GIF", "sub/e.gif", "f.bmp", "sub/g.BMP", "h.txt"}) {
      fs::create_directories((fs::path(in_) / name).parent_path());
      write_file(in_ + "/" + name, "as the name says");
    }
  }

  // The first line of the report.
  [[nodiscard]] static std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n') + 1);
  }

  [[nodiscard]] Json skipped(const std::string& name, const std::string& format) const {
    return {{"input", in_ + "/" + name}, {"format", format}};
  }
};

TEST_F(BatchOthers, AreCounted) {
  EXPECT_EQ(
      first_line(good_batch({"--recursive"}).err),
      in_ + " -> " + out_ + ": 2 pictures done; 5 files of other formats skipped (3 GIF, 2 BMP)\n");
  EXPECT_EQ(first_line(good_batch({"--resume", "--match", "[acx]*"}).err),
            in_ + " -> " + out_ +
                ": 0 of 1 picture done, 1 unchanged since an earlier run; 1 file of another format "
                "skipped (1 GIF)\n");
  EXPECT_EQ(good_batch({"--resume", "-q"}).err, "");
}

TEST_F(BatchOthers, AreNamedInJsonAndVerbosely) {
  const Json expected{skipped("c.gif", "GIF"), skipped("d.GIF", "GIF"), skipped("f.bmp", "BMP")};
  EXPECT_EQ(json_batch()["other_formats"], expected);
  const std::string verbose = good_batch({"--resume", "-v"}).err;
  expect_parts(verbose, {"gpufilter: " + in_ + "/c.gif: GIF is not supported, skipped\n",
                         "gpufilter: " + in_ + "/h.txt: is not a picture, skipped\n"});
  EXPECT_EQ(json_batch({"--resume", "--match", "*.png"})["other_formats"], Json::array());
}

TEST_F(BatchOthers, AreDividedAmongShards) {
  EXPECT_EQ(json_shard(0, 2, {"--recursive"})["other_formats"],
            (Json{skipped("c.gif", "GIF"), skipped("f.bmp", "BMP"), skipped("sub/g.BMP", "BMP")}));
  EXPECT_EQ(json_shard(1, 2, {"--recursive"})["other_formats"],
            (Json{skipped("d.GIF", "GIF"), skipped("sub/e.gif", "GIF")}));
  ended(0, filter({"gather", out_}));
}

TEST_F(BatchOthers, AreCountedInLists) {
  const std::string list = folder_ / "list";
  write_file(list, "a.png\nh.txt\nsub/e.gif\nc.gif\n");
  EXPECT_EQ(first_line(good_batch({"--list", list}).err),
            in_ + " -> " + out_ + ": 1 picture done; 2 files of other formats skipped (2 GIF)\n");
}

TEST_F(BatchOthers, AreNamedIfThereIsNothingElse) {
  fs::remove(in_ + "/a.png");
  fs::remove(in_ + "/b.jpg");
  EXPECT_EQ(good_batch({"--recursive"}).err,
            "gpufilter: warning: " + in_ + ": contains no " + gpufilter::names_of(codecs()) +
                " picture\n" + in_ + " -> " + out_ +
                ": 0 pictures done; 5 files of other formats skipped (3 GIF, 2 BMP)\n");
}

TEST_F(BatchOthers, FailUnderThePicturesNames) {
  write_file(in_ + "/b.jpg", "GIF89a");
  EXPECT_EQ(batch({"-q"}).err, "gpufilter: " + in_ + "/b.jpg: GIF is not supported\n");
  expect_failure(1, {in_ + "/b.jpg", folder_ / "out.png"},
                 {in_ + "/b.jpg: GIF is not supported\n"});
}

}  // namespace
}  // namespace gpufilter::test
