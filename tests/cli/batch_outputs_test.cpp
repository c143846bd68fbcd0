// --output with folders of pictures, and what the journal knows about it.
#include "cli/batch_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class BatchOutputs : public BatchTest {
 protected:
  // The command blurs; the pictures of the other folder are blurred, those of OUTDIR also flopped.
  [[nodiscard]] std::vector<std::string> words(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--output", soft_, "--flop"});
    return more;
  }
  [[nodiscard]] Names resumed() const { return statuses(json_batch(words({"--resume"}))); }

  const std::string soft_ = folder_ / "soft";
};

TEST_F(BatchOutputs, EveryPictureGoesToEveryFolder) {
  put_many(3);
  put("sub/p.jpg");
  const ProcessResult result = good_batch(words({"--recursive", "-v"}));
  EXPECT_EQ(results_in(soft_), undisturbed({"--recursive"}));
  EXPECT_EQ(results_in(out_), undisturbed({"--flop", "--recursive"}));
  EXPECT_TRUE(contains(result.err, out_ + "/p100.png, " + soft_ + "/p100.png: "));
}

TEST_F(BatchOutputs, TheJournalKnowsEach) {
  put_many(3);
  EXPECT_EQ(resumed(), (Names{"done", "done", "done"}));
  EXPECT_EQ(resumed(), (Names{"unchanged", "unchanged", "unchanged"}));
  fs::remove(soft_ + "/p100.png");
  write_file(soft_ + "/p101.png", "scribbled over");
  fs::remove(out_ + "/p102.png");
  EXPECT_EQ(resumed(), (Names{"done", "done", "done"}));
  EXPECT_EQ(resumed(), (Names{"unchanged", "unchanged", "unchanged"}));
  EXPECT_EQ(results_in(soft_), undisturbed());
  EXPECT_EQ(results_in(out_), undisturbed({"--flop"}));
  // Other stages before it make another picture.
  EXPECT_EQ(statuses(json_batch({"--blur", "auto", "--output", soft_, "--flop", "--resume",
                                 "--on-exists", "overwrite"})),
            (Names{"done", "done", "done"}));
}

TEST_F(BatchOutputs, ExistingOnesAreTreatedAsAsked) {
  put_many(2);
  fs::create_directory(soft_);
  write_file(soft_ + "/p101.png", "before");
  expect_refusal(words(), {soft_ + "/p101.png: already exists; --on-exists overwrite replaces it"});
  const Json json = json_batch(words({"--on-exists", "skip"}));
  EXPECT_EQ(statuses(json), (Names{"done", "done"}));
  EXPECT_EQ(read_file(soft_ + "/p101.png"), "before");
  EXPECT_EQ(json["pictures"][1]["other_outputs"][0]["kept"], true);
  EXPECT_EQ(names_of(results_in(out_)), (Names{"p100.png", "p101.png"}));
  EXPECT_EQ(statuses(json_batch(words({"--on-exists", "skip"}))), (Names{"exists", "exists"}));
  static_cast<void>(good_batch(words({"--on-exists", "overwrite"})));
  EXPECT_EQ(results_in(soft_), undisturbed());
}

TEST_F(BatchOutputs, ADryRunNamesThem) {
  put_many(1);
  const ProcessResult result = good_batch(words({"--dry-run"}));
  EXPECT_TRUE(contains(result.out, out_ + "/p100.png, " + soft_ + "/p100.png: "));
  EXPECT_FALSE(fs::exists(soft_));
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(BatchOutputs, NoneAppearsOfAPictureThatFails) {
  put_many(1);
  put("damaged.png");
  write_file(in_ + "/damaged.png", read_file(in_ + "/damaged.png").substr(0, 1500));
  EXPECT_EQ(batch(words()).exit_code, 1);
  EXPECT_EQ(names_of(results_in(soft_)), Names{"p100.png"});
  EXPECT_EQ(names_of(results_in(out_)), Names{"p100.png"});
}

TEST_F(BatchOutputs, NamesAreChecked) {
  put_many(2);
  const auto refused = [this](const std::string& output, const std::string& reason) {
    expect_refusal({"--output", output}, {"gpufilter: --output " + output + ": " + reason + "\n"});
  };
  refused(soft_ + ".png", "is the name of a picture; several pictures need a folder");
  refused(in_, "is in the input folder " + in_ + "; name a folder elsewhere");
  expect_refusal({"--output", out_},
                 {"gpufilter: --output " + out_ +
                  "/p100.png: two outputs have this name; give --output another folder\n"});
  expect_refusal(
      {"--output", soft_, "--shard", "0/2"},
      {"gpufilter: --output " + soft_ + ": does not work with --shard; leave out one\n"});
}

}  // namespace
}  // namespace gpufilter::test
