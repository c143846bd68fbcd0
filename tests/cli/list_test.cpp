// --list: folders with a given list of pictures.
#include <unistd.h>

#include "cli/shard_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class Lists : public ShardTest {
 protected:
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
    static_cast<void>(good_batch({"--list", list_}));
    EXPECT_TRUE(results_in(out_) == expected_) << format;
    fs::remove_all(out_);
    for (int index = 0; index < 3; ++index)
      EXPECT_EQ(shard(index, 3, {"--list", list_}).exit_code, 0);
    EXPECT_TRUE(pictures_in(out_) == expected_) << format;
    fs::remove_all(out_);
  }
}

// As editors for Windows write them.
TEST_F(Lists, MayBeginWithAByteOrderMark) {
  const std::string name = "png-cicp-display-p3.png";
  put(name);
  EXPECT_EQ(statuses(json_batch({"--list", GPUFILTER_SOURCE "/tests/cases/list-with-bom.txt"})),
            Names{"done"});
  write_file(list_, std::string("\xFF\xFEp\0n\0g\0", 8));
  expect_refusal({"--list", list_}, {list_ + ": is UTF-16; save the list as UTF-8"});
}

TEST_F(Lists, ComeThroughAPipe) {
  const std::string names = found("%s\\t%P\\0");
  EXPECT_EQ(batch({"--list", "-"}, {.input = names}).exit_code, 0);
  EXPECT_TRUE(results_in(out_) == expected_);
  fs::remove_all(out_);
  for (int index = 0; index < 2; ++index)
    EXPECT_EQ(shard(index, 2, {"--list", "-"}, {.input = names}).exit_code, 0);
  EXPECT_TRUE(pictures_in(out_) == expected_);
}

TEST_F(Lists, NameWhatIsDone) {
  write_file(list_, "./p101.png\nsub/b.jpg\ngone.png\n");
  const Json document = json_batch({"--list", list_}, 1);
  EXPECT_EQ(statuses(document), (Names{"failed", "done", "done"}));
  EXPECT_EQ(document["pictures"][0]["error"], in_ + "/gone.png: no such file");
  EXPECT_EQ(names_of(results_in(out_)), (Names{"p101.png", "sub/b.jpg"}));
}

// Pictures that are not listed are not found: the folder cannot even be read.
TEST_F(Lists, TheFolderIsNotSearched) {
  if (geteuid() == 0) GTEST_SKIP() << "skipped: the superuser may read everything";
  write_file(list_, "1\tp101.png\n");
  fs::permissions(in_, fs::perms::owner_exec);
  EXPECT_EQ(shard(0, 1, {"--list", list_}).exit_code, 0);
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
  EXPECT_EQ(shard(0, 2, {"--list", list_}).exit_code, 0);
  write_file(list_, found("%s\\t%P\\0") + std::string("1\tlater.png") + '\0');
  expect_refusal({"--list", list_, "--shard", "1/2"},
                 {"names or sizes differ", "leave out --list"});
  // The run keeps its listing, so later shards do not need the list.
  EXPECT_EQ(shard(1, 2).exit_code, 0);
  EXPECT_TRUE(pictures_in(out_) == expected_);
}

TEST_F(Lists, ResultsInTheFolderAreNotPictures) {
  out_ = in_ + "/results";
  for (int round = 0; round < 2; ++round) {
    write_file(list_, found("%s\\t%P\\0"));
    EXPECT_EQ(batch({"--list", list_, "--resume"}).exit_code, 0);
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
  const ProcessResult result =
      ended(2, filter({"in", "out", "--list", "list"}, {.folder = folder_.path()}));
  expect_one_line(result.err, {"list: 'in/p101.png' is not below in, but in/p101.png exists"});
  EXPECT_EQ(batch({"--list", folder_ / "missing"}).exit_code, 1);
  EXPECT_FALSE(fs::exists(out_));
}

}  // namespace
}  // namespace gpufilter::test
