// --exclude, and what is never read; --keep-time.
#include <chrono>

#include "cli/batch_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class Exclude : public BatchTest {
 protected:
  [[nodiscard]] Names results(Names more) const {
    fs::remove_all(out_);
    more.insert(more.end(), {"--recursive", "-q"});
    EXPECT_EQ(good_batch(more).err, "");
    return names_of(results_in(out_));
  }
};

TEST_F(Exclude, NamesAndPaths) {
  for (const char* name : {"a.png", "b.png", "raw/c.png", "sub/raw/d.png", "sub/a.png"})
    put(name);
  EXPECT_EQ(results({}), (Names{"a.png", "b.png", "raw/c.png", "sub/a.png", "sub/raw/d.png"}));
  EXPECT_EQ(results({"--exclude", "A.png"}), (Names{"b.png", "raw/c.png", "sub/raw/d.png"}));
  EXPECT_EQ(results({"--exclude", "raw/"}), (Names{"a.png", "b.png", "sub/a.png"}));
  EXPECT_EQ(results({"--exclude", "/raw", "--exclude", "sub/*.png"}),
            (Names{"a.png", "b.png", "sub/raw/d.png"}));
  EXPECT_EQ(results({"--exclude", "**/raw/**", "--match", "[ad]*"}), (Names{"a.png", "sub/a.png"}));
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
  EXPECT_EQ(results({}), Names{"a.png"});
  const std::string list = folder_ / "list";
  write_file(list, "@eaDir/a.png/thumb.jpg\n._a.png\na.png\n");
  fs::remove_all(out_);
  EXPECT_EQ(statuses(json_batch({"--list", list})), Names{"done"});
}

TEST_F(Exclude, IsForFolders) {
  put("a.png");
  expect_failure(2, {in_ + "/a.png", in_, out_ + "/", "--list", "-", "--exclude", "a"}, {"--list"});
  expect_failure(2, {in_ + "/a.png", out_ + "/", "--exclude", "a"},
                 {"--exclude: is for folders, but no input is a folder"});
  const ProcessResult none = ended(0, batch({"--exclude", "*.png"}));
  EXPECT_TRUE(contains(none.err, in_ + ": contains 1 picture, and --exclude skips it"));
}

TEST_F(Exclude, KeepTimeGivesResultsTheTimeOfTheirInputs) {
  put("a.png");
  put("b.jpg");
  const auto time = fs::last_write_time(in_ + "/a.png") - std::chrono::hours(1000);
  for (const char* name : {"/a.png", "/b.jpg"})
    fs::last_write_time(in_ + name, time);
  static_cast<void>(good_batch({"--keep-time"}));
  EXPECT_EQ(fs::last_write_time(out_ + "/a.png"), time);
  EXPECT_EQ(fs::last_write_time(out_ + "/b.jpg"), time);
  EXPECT_EQ(statuses(json_batch({"--keep-time", "--resume"})), (Names{"unchanged", "unchanged"}));
  const std::string path = in_ + "/a.png";
  EXPECT_EQ(filter({path, folder_ / "copy.png", "--keep-time"}).exit_code, 0);
  EXPECT_EQ(fs::last_write_time(folder_ / "copy.png"), time);
  EXPECT_EQ(filter({path, "--in-place", "--flip", "--keep-time"}).exit_code, 0);
  EXPECT_EQ(fs::last_write_time(path), time);
  EXPECT_EQ(filter({path, "--in-place", "--flip"}).exit_code, 0);
  EXPECT_GT(fs::last_write_time(path), time);
  expect_failure(2, {"-", folder_ / "x.png", "--keep-time"}, {"--keep-time: '-'"});
}

}  // namespace
}  // namespace gpufilter::test
