// gpufilter gather, after shards that the program ran.
#include "cli/shard_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class GatherCommand : public ShardTest {
 protected:
  void SetUp() override {
    ShardTest::SetUp();
    put_many(7, {40, 30});
    put("sub/large.png", {90, 80});
  }

  [[nodiscard]] ProcessResult gather(const Words& more = {}) const {
    Words words{"gather", out_};
    words.insert(words.end(), more.begin(), more.end());
    return filter(words);
  }

  [[nodiscard]] Json json_gather(int exit_code) const {
    const ProcessResult result = ended(exit_code, gather({"--json"}));
    EXPECT_EQ(result.err, "");
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json["schema"], "gpufilter-gather-1");
    EXPECT_EQ(json["complete"], exit_code == 0);
    return json;
  }

  void run_shards(int count, const Words& more) const {
    for (int index = 0; index < count; ++index)
      EXPECT_EQ(shard(index, count, more).exit_code, 0);
  }

  const Words recursive_{"--recursive", "-q"};
};

TEST_F(GatherCommand, LeavesTheFolderThatOneRunWouldHaveMade) {
  const Files expected = undisturbed({"--recursive"});
  run_shards(3, recursive_);
  const ProcessResult result = ended(0, gather());
  EXPECT_EQ(result.out, out_ + ": 8 pictures done; gathered from 3 processes\n");
  EXPECT_EQ(result.err, "");
  EXPECT_FALSE(fs::exists(fs::path(out_) / shards_name));
  EXPECT_TRUE(results_in(out_) == expected);
  EXPECT_EQ(gather().out, out_ + ": 8 pictures done; nothing to gather\n");
  EXPECT_EQ(gather().exit_code, 0);
}

TEST_F(GatherCommand, OneRunKnowsWhatTheShardsDid) {
  run_shards(2, recursive_);
  EXPECT_EQ(gather().exit_code, 0);
  const Json again = json_batch({"--recursive", "--resume"});
  EXPECT_EQ(again["summary"]["unchanged"], 8);
  EXPECT_EQ(again["summary"]["done"], 0);
}

TEST_F(GatherCommand, ItsCommandsDoTheRest) {
  const Files expected = undisturbed({"--recursive"});
  EXPECT_EQ(shard(1, 3, recursive_).exit_code, 0);
  const Json json = json_gather(1);
  const std::size_t missing = json["missing"];
  EXPECT_GT(missing, 2U);
  EXPECT_EQ(json["unfinished"].size(), missing);
  EXPECT_EQ(json["pictures"], 8);
  EXPECT_EQ(json["done"], 8 - missing);
  ASSERT_EQ(json["commands"].size(), 2U);
  for (const auto& command : json["commands"]) {
    const ProcessResult result = run_process({"sh", "-c", command.get<std::string>()});
    EXPECT_EQ(result.exit_code, 0) << command << result.err;
  }
  EXPECT_EQ(json_gather(0)["gathered"], true);
  EXPECT_TRUE(results_in(out_) == expected);
}

TEST_F(GatherCommand, ListsFailuresInWords) {
  write_file(in_ + "/bad.png", "no picture");
  EXPECT_EQ(shard(0, 1, recursive_).exit_code, 1);
  const ProcessResult result = ended(1, gather());
  EXPECT_TRUE(
      contains(result.out, ": 8 of 9 pictures done, 1 failed\nfailed: " + in_ + "/bad.png: "));
  expect_parts(result.out, {"to do the rest:\n  ", " --shard 0/1\n"});
  const Json json = json_gather(1);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["unfinished"][0]["status"], "failed");
  EXPECT_EQ(json["unfinished"][0]["input"], in_ + "/bad.png");
  EXPECT_EQ(json["unfinished"][0]["shard"], "0/1");
}

TEST_F(GatherCommand, OfManyMissingPicturesTenAreListed) {
  put_many(30, {4, 3});
  EXPECT_EQ(shard(0, 40, recursive_).exit_code, 0);
  const std::string text = gather().out;
  std::size_t lines = 0;
  for (std::size_t at = text.find("\nmissing: "); at != std::string::npos;
       at = text.find("\nmissing: ", at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, 11U) << text;
  EXPECT_TRUE(contains(text, " more (--json lists all)\n"));
  EXPECT_GT(json_gather(1)["commands"].size(), 10U);
}

TEST_F(GatherCommand, CountsWhatSkippedAndWhatToMakes) {
  fs::create_directory(out_);
  run_shards(2, {"--recursive", "-q", "--to", "jpg"});
  EXPECT_EQ(json_gather(0)["done"], 8);
  fs::remove(fs::path(out_) / "sub/large.jpg");
  write_file(out_ + "/sub/large.jpg", "of someone else");
  run_shards(2, {"--recursive", "-q", "--to", "jpg", "--on-exists", "skip"});
  EXPECT_EQ(json_gather(0)["done"], 8);
  EXPECT_EQ(read_file(out_ + "/sub/large.jpg"), "of someone else");
}

TEST_F(GatherCommand, RefusesWhatItCannotGather) {
  expect_failure(2, {"gather", out_}, {out_, "does not exist"});
  fs::create_directory(out_);
  expect_failure(2, {"gather", out_}, {out_, "gpufilter has not written to this folder"});
  expect_failure(2, {"gather"}, {"OUTDIR"});
  expect_failure(2, {"gather", in_ + "/sub/large.png"}, {"is not a folder"});
  EXPECT_TRUE(fs::is_empty(out_));
}

}  // namespace
}  // namespace gpufilter::test
