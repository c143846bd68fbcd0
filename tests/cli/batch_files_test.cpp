// Which pictures of a folder are done, and what happens to files that exist.
#include <random>

#include "cli/batch_fixture.hpp"
#include "cli/optimised.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class BatchFiles : public BatchTest {};

TEST_F(BatchFiles, EveryPictureIsFiltered) {
  put("a.png");
  put("b.jpg");
  write_file(in_ + "/note.txt", "no picture");
  const ProcessResult result = good_batch();
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with(in_ + " -> " + out_ + ": 2 pictures done\n")) << result.err;
  EXPECT_EQ(names_in(out_), (Names{".gpufilter-journal", "a.png", "b.jpg"}));
  EXPECT_TRUE(same_pixels(read_picture(out_ + "/a.png"), blurred(read_picture(in_ + "/a.png"))));
  filter_quietly({in_ + "/b.jpg", folder_ / "single.jpg", "--blur", "auto"});
  EXPECT_EQ(read_file(out_ + "/b.jpg"), read_file(folder_ / "single.jpg"));
}

TEST_F(BatchFiles, JobsThreadsAndMemoryDoNotShow) {
  put_many(5, {301, 211});
  put("b.jpg", {301, 211});
  const Files expected = undisturbed({"--jobs", "1"});
  EXPECT_EQ(expected.size(), 6U);
  for (const std::vector<std::string>& way : {std::vector<std::string>{"--threads", "1"},
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

TEST_F(BatchFiles, NoStageCopiesThePixels) {
  put("a.png");
  filter_quietly({in_, out_});
  EXPECT_TRUE(same_pixels(read_picture(out_ + "/a.png"), read_picture(in_ + "/a.png")));
}

TEST_F(BatchFiles, TwoPicturesWithOneResultAreRefused) {
  put("a.jpg");
  put("a.png");
  expect_refusal({"--to", "png"}, {"in/a.jpg and ", "in/a.png: ", "out/a.png"});
  static_cast<void>(good_batch());
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
    static_cast<void>(good_batch({"--recursive", "--on-exists", "overwrite"}));
    EXPECT_EQ(names_of(results_in(in_)), (Names{"a.png", "results/a.png", "results/mine.png"}));
  }
}

TEST_F(BatchFiles, AnInputIsNeverAResult) {
  put("in/a.png");
  put("a.png");
  out_ = folder_.path();
  const std::string before = read_file(in_ + "/a.png");
  const ProcessResult result =
      ended(2, filter({in_, folder_.path(), "--recursive", "--on-exists", "overwrite"}));
  expect_one_line(result.err, {"in/a.png: is an input", "in/in/a.png would"});
  EXPECT_EQ(read_file(in_ + "/a.png"), before);
}

TEST_F(BatchFiles, OneFolderNeedsInPlace) {
  put("a.png");
  const Image before = read_picture(in_ + "/a.png");
  out_ = folder_ / "in/../in";
  expect_refusal({}, {"in/../in: ", "--in-place"});
  static_cast<void>(good_batch({"--in-place"}));
  EXPECT_TRUE(same_pixels(read_picture(in_ + "/a.png"), blurred(before)));
  EXPECT_EQ(names_in(in_), (Names{".gpufilter-journal", "a.png"}));
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
  EXPECT_EQ(statuses(json_batch({"--on-exists", "skip"})), (Names{"done", "exists"}));
  EXPECT_EQ(read_file(out_ + "/b.png"), "before");
  EXPECT_EQ(statuses(json_batch({"--on-exists", "overwrite"})), (Names{"done", "done"}));
  EXPECT_TRUE(same_pixels(read_picture(out_ + "/b.png"), blurred(read_picture(in_ + "/b.png"))));
}

TEST_F(BatchFiles, TheOutputFolderIsMade) {
  put("a.png");
  out_ = folder_ / "new/deep/out/";
  static_cast<void>(good_batch());
  EXPECT_EQ(names_of(results_in(out_)), Names{"a.png"});
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

TEST_F(BatchFiles, ANewFolderIsNotCalledLikeAPicture) {
  put("a.png");
  out_ = folder_ / "x/o.png";
  expect_refusal({}, {"x/o.png: this folder does not exist, and the name is that of a picture"});
  out_ += "/";
  static_cast<void>(good_batch());
  out_.pop_back();
  static_cast<void>(good_batch({"--resume"}));
  EXPECT_EQ(names_of(results_in(out_)), Names{"a.png"});
}

TEST_F(BatchFiles, DryRunTouchesNothing) {
  put("a.png");
  put("sub/b.png");
  fs::create_directory(out_);
  write_file(out_ + "/.a.png.gpufilter-1-0123abcd", "left by a killed run");
  const Files before = everything_in(folder_.path());
  const ProcessResult result = good_batch({"--dry-run", "--recursive", "--to", "jpg"});
  EXPECT_EQ(result.out, in_ + "/a.png -> " + out_ + "/a.jpg: would be done\n" + in_ +
                            "/sub/b.png -> " + out_ + "/sub/b.jpg: would be done\n");
  EXPECT_EQ(statuses(json_batch({"--dry-run", "--recursive"})), (Names{"planned", "planned"}));
  EXPECT_EQ(everything_in(folder_.path()), before);
}

TEST_F(BatchFiles, DryRunKnowsWhatResumeWouldDo) {
  put("a.png");
  static_cast<void>(good_batch());
  put("b.png");
  const Files before = everything_in(folder_.path());
  EXPECT_EQ(statuses(json_batch({"--dry-run", "--resume"})), (Names{"unchanged", "planned"}));
  EXPECT_EQ(everything_in(folder_.path()), before);
  expect_refusal({"--dry-run"}, {"a.png: already exists"});
}

TEST_F(BatchFiles, OptionsForFoldersAreRefusedForOnePicture) {
  put("a.png");
  for (const Names& option : {Names{"--recursive"}, Names{"--match", "*"}, Names{"--jobs", "2"},
                              Names{"--resume"}, Names{"--stop-on-error"}}) {
    Names words{in_ + "/a.png", folder_ / "out.png"};
    words.insert(words.end(), option.begin(), option.end());
    expect_failure(2, words,
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
  const std::vector<std::string> stages{"--blur", "naive"};
  const Files expected = undisturbed(stages);
  for (int round = 0; round < 5; ++round) {
    filter_quietly({in_, out_, "--blur", "naive", "--blur", "naive", "--jobs", "8", "--on-exists",
                    "overwrite"},
                   optimised());
    EXPECT_EQ(results_in(out_), expected);
  }
}

}  // namespace
}  // namespace gpufilter::test
