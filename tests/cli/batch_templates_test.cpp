// --name: names of results made from a template.
#include "cli/shard_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class BatchTemplates : public ShardTest {};

TEST_F(BatchTemplates, SolveCollisions) {
  put("a.jpg");
  put("a.png");
  put("sub/b.png");
  expect_refusal({"--to", "jpg", "--recursive"},
                 {in_ + "/a.jpg and " + in_ + "/a.png: both would become " + out_ +
                  "/a.jpg; --name '{stem}-{ext}.{to}' gives each a name of its own\n"});
  static_cast<void>(good_batch({"--to", "jpg", "--recursive", "--name", "{stem}-{ext}.{to}"}));
  const Files results = results_in(out_);
  EXPECT_EQ(names_of(results), (Names{"a-jpg.jpg", "a-png.jpg", "sub/b-png.jpg"}));
  for (const auto& [name, bytes] : results)
    EXPECT_EQ(bytes.substr(0, 3), "\xff\xd8\xff") << name;
}

TEST_F(BatchTemplates, SolveCollisionsOfSeveralFolders) {
  put("a.png");
  put("one/x.png");
  put("two/x.png");
  put("two/x.jpg");
  const Names inputs{in_ + "/one", in_ + "/two"};
  const auto run = [&](const Names& more) {
    Names words{inputs[0], inputs[1], out_ + "/", "--blur", "auto", "--device", "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    return filter(words);
  };
  const ProcessResult refused = ended(2, run({}));
  expect_one_line(refused.err, {"; --name '{parent}-{stem}.{to}' gives each a name of its own\n"});
  const ProcessResult both = run({"--to", "png"});
  expect_one_line(both.err, {"; --name '{parent}-{name}.{to}' gives each a name of its own\n"});
  EXPECT_EQ(run({"--to", "png", "--name", "{parent}-{name}.{to}"}).exit_code, 0);
  EXPECT_EQ(names_of(results_in(out_)), (Names{"one-x.png.png", "two-x.jpg.png", "two-x.png.png"}));
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
  const Names words{"--name", "{ext}/{stem}-soft.{to}", "--json"};
  static_cast<void>(good_batch(words));
  EXPECT_EQ(names_of(results_in(out_)), (Names{"png/p100-soft.png", "png/p101-soft.png"}));
  put("p102.png");
  EXPECT_EQ(statuses(json_batch({"--name", "{ext}/{stem}-soft.{to}", "--resume"})),
            (Names{"unchanged", "unchanged", "done"}));
  EXPECT_EQ(statuses(json_batch({"--resume"})), (Names{"done", "done", "done"}));
}

TEST_F(BatchTemplates, AreSharedByShards) {
  put_many(3);
  put("sub/x.jpg");
  const Names words{"--recursive", "--name", "{parent}_{stem}.{to}", "--to", "png"};
  EXPECT_EQ(shard(0, 2, words).exit_code, 0);
  EXPECT_EQ(shard(1, 2, {"--recursive", "--to", "png"}).exit_code, 2) << "another run";
  EXPECT_EQ(shard(1, 2, words).exit_code, 0);
  const ProcessResult gathered = ended(0, filter({"gather", out_}));
  EXPECT_EQ(names_of(results_in(out_)),
            (Names{"in_p100.png", "in_p101.png", "in_p102.png", "sub/sub_x.png"}));
}

TEST_F(BatchTemplates, NameOnePictureInAFolder) {
  put("a.jpg");
  filter_quietly({in_ + "/a.jpg", out_ + "/", "--name", "{stem}-soft.{to}", "--to", "png"});
  EXPECT_EQ(names_of(results_in(out_)), Names{"a-soft.png"});
  expect_failure(
      2, {in_ + "/a.jpg", folder_ / "b.jpg", "--name", "{stem}.{to}"},
      {"--name: is for results in a folder, and " + (folder_ / "b.jpg") + " is not a folder\n"});
}

}  // namespace
}  // namespace gpufilter::test
