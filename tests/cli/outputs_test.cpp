// --output: also saves the picture at a point of the chain.

#include "cli/batch_fixture.hpp"
#include "stages/resize/resize.hpp"

namespace gpufilter::test {
namespace {

class Outputs : public ProgramTest {
 protected:
  // Exit code 2, and a single line.
  void expect_refusal(const Words& arguments, const std::string& line) const {
    EXPECT_EQ(ended(2, filter(arguments)).err, "gpufilter: " + line + "\n");
    EXPECT_EQ(names_in(folder_.path()), Words{"in.png"});
  }
  void expect_grey_and_blurred(const std::string& grey, const std::string& soft) const {
    EXPECT_TRUE(same_pixels(read_picture(grey), filter_on_host(image_, {stage_of("--gray")}, {})));
    EXPECT_TRUE(same_pixels(read_picture(soft),
                            filter_on_host(image_, {stage_of("--gray"), make_blur({})}, {})));
  }

  const Image image_ = random_image(size_, format_, 1);
  const std::string in_ = stored(image_, "in.png");
  const std::string out_ = folder_ / "out.png";
  const std::string grey_ = folder_ / "grey.png";
};

TEST_F(Outputs, HoldWhatTheChainHoldsThere) {
  const ProcessResult result = ended(
      0, filter({in_, out_, "--gray", "--output", grey_, "--blur", "auto", "--device", "cpu"}));
  expect_grey_and_blurred(grey_, out_);
  const std::string line = "\nalso " + grey_ + ": 67x45, grey, 8-bit; PNG, ";
  EXPECT_TRUE(contains(result.err, line));
}

TEST_F(Outputs, FoldersTakeTheInputsName) {
  filter_quietly({in_, out_, "--gray", "--output", folder_ / "a/b/", "--blur", "auto"});
  expect_grey_and_blurred(folder_ / "a/b/in.png", out_);
  fs::create_directory(folder_ / "exists");
  filter_quietly({in_, folder_ / "c/", "--gray", "--output", folder_ / "exists", "--blur", "auto"});
  expect_grey_and_blurred(folder_ / "exists/in.png", folder_ / "c/in.png");
  filter_quietly(
      {in_, out_, "--output", folder_ / "d/", "--to", "tif", "--on-exists", "overwrite"});
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "d/in.tif"), image_));
  EXPECT_TRUE(same_pixels(read_picture(out_), image_)) << "its own name decides";
}

TEST_F(Outputs, StandardInputAndOutputWork) {
  write_file(out_, ended(0, filter({"-", "-", "--gray", "--output", grey_, "--blur", "auto", "-q"},
                                   {.input = read_file(in_)}))
                       .out);
  expect_grey_and_blurred(grey_, out_);
  const std::string line = "gpufilter: --output " + (folder_ / "") +
                           ": is a folder, and standard input has no name; name a file\n";
  EXPECT_EQ(ended(2, filter({"-", "-", "--output", folder_ / ""}, {.input = read_file(in_)})).err,
            line);
}

TEST_F(Outputs, NamesAreChecked) {
  expect_refusal({in_, out_, "--output", in_},
                 "--output " + in_ + ": is the input; give the output another name");
  const std::string twice = ": two outputs have this name; give one of them another";
  expect_refusal({in_, out_, "--output", out_}, "--output " + out_ + twice);
  expect_refusal({in_, out_, "--output", grey_, "--gray", "--output", folder_ / "./grey.png"},
                 "--output " + (folder_ / "./grey.png") + twice);
  expect_refusal({in_, out_, "--output", "-"},
                 "--output -: only OUTPUT can be standard output; name a file or folder");
  expect_refusal(
      {in_, out_, "--linear", "--output", grey_, "--encoded"},
      "--output " + grey_ + ": the stages before it work in linear light; put --encoded before it");
  expect_refusal({in_, out_, "--trace", grey_, "--output", grey_},
                 grey_ + ": is a picture of this run; give --trace another file");
  expect_failure(2, {in_, out_, "--output", folder_ / "grey.gif"}, {"grey.gif", ".png"});
}

TEST_F(Outputs, NoneAppearsIfOneFails) {
  const std::string nowhere = folder_ / "missing/grey.png";
  expect_failure(1, {in_, out_, "--output", grey_, "--gray", "--output", nowhere},
                 {nowhere + ": "});
  write_file(in_, read_file(in_).substr(0, 2000));
  expect_failure(1, {in_, out_, "--output", grey_, "--gray"}, {in_ + ": "});
}

TEST_F(Outputs, ExistingOnesAreTreatedAsAsked) {
  write_file(grey_, "before");
  expect_failure(2, {in_, out_, "--output", grey_, "--on-exists", "fail"},
                 {grey_ + ": already exists; --on-exists overwrite replaces it\n"});
  const ProcessResult kept = ended(
      0, filter({in_, out_, "--gray", "--output", grey_, "--blur", "auto", "--on-exists", "skip"}));
  EXPECT_TRUE(
      contains(kept.err, "\nalso " + grey_ + ": 67x45, grey, 8-bit; PNG; already exists, kept\n"));
  EXPECT_EQ(read_file(grey_), "before");
  // And the other way round.
  fs::remove(grey_);
  write_file(out_, "before");
  filter_quietly({in_, out_, "--gray", "--output", grey_, "--blur", "auto", "--on-exists", "skip"});
  EXPECT_EQ(read_file(out_), "before");
  const ProcessResult replaced = filter({in_, out_, "--gray", "--output", grey_, "--blur", "auto"});
  EXPECT_TRUE(contains(replaced.err, "\nalso " + grey_ + " (replaced): "));
  expect_grey_and_blurred(grey_, out_);
}

TEST_F(Outputs, AreInTheReports) {
  const Words words{in_,   out_,     "--resize", "50%",      "--output",
                    grey_, "--blur", "auto",     "--device", "cpu"};
  const auto with = [&](const Words& more) { return filter(words + more).out; };
  const std::string planned = with({"--dry-run"});
  EXPECT_TRUE(contains(planned, "\nalso " + grey_ + ": 34x23, RGB, 8-bit; PNG\n"));
  EXPECT_FALSE(fs::exists(grey_));
  const Json json = Json::parse(with({"--json"}));
  ASSERT_EQ(json["other_outputs"].size(), 1U) << json;
  const Json& other = json["other_outputs"][0];
  EXPECT_EQ(other["output"], grey_);
  EXPECT_EQ(other["output_format"], "PNG");
  EXPECT_EQ(other["output_width"], 34);
  EXPECT_EQ(other["output_height"], 23);
  EXPECT_EQ(other["kept"], false);
  EXPECT_EQ(other["replaced"], false);
  EXPECT_EQ(other["output_bytes"], fs::file_size(grey_));
}

// What the formats cannot hold is said for each output.
TEST_F(Outputs, LossesAreNamedForEach) {
  const std::string in = stored(random_image(size_, {4, 8}, 2), "alpha.png");
  const ProcessResult result =
      ended(0, filter({in, out_, "--output", folder_ / "a.jpg", "--quality", "90"}));
  const std::string warning =
      "gpufilter: warning: " + (folder_ / "a.jpg") + ": alpha is flattened onto #ffffff";
  EXPECT_EQ(result.err.find(warning), 0U) << result.err;
  EXPECT_FALSE(contains(result.err, "--quality has no effect"));
}

// --output with folders of pictures, and what the journal knows about it.

class BatchOutputs : public BatchTest {
 protected:
  // The command blurs; the pictures of the other folder are blurred, those of OUTDIR also flopped.
  [[nodiscard]] Words words(Words more = {}) const {
    more.insert(more.begin(), {"--output", soft_, "--flop"});
    return more;
  }
  [[nodiscard]] Words resumed() const { return statuses(json_batch(words({"--resume"}))); }

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
  EXPECT_EQ(resumed(), (Words{"done", "done", "done"}));
  EXPECT_EQ(resumed(), (Words{"unchanged", "unchanged", "unchanged"}));
  fs::remove(soft_ + "/p100.png");
  write_file(soft_ + "/p101.png", "scribbled over");
  fs::remove(out_ + "/p102.png");
  EXPECT_EQ(resumed(), (Words{"done", "done", "done"}));
  EXPECT_EQ(resumed(), (Words{"unchanged", "unchanged", "unchanged"}));
  EXPECT_EQ(results_in(soft_), undisturbed());
  EXPECT_EQ(results_in(out_), undisturbed({"--flop"}));
  // Other stages before it make another picture.
  EXPECT_EQ(statuses(json_batch({"--blur", "auto", "--output", soft_, "--flop", "--resume",
                                 "--on-exists", "overwrite"})),
            (Words{"done", "done", "done"}));
}

TEST_F(BatchOutputs, ExistingOnesAreTreatedAsAsked) {
  put_many(2);
  fs::create_directory(soft_);
  write_file(soft_ + "/p101.png", "before");
  expect_refusal(words(), {soft_ + "/p101.png: already exists; --on-exists overwrite replaces it"});
  const Json json = json_batch(words({"--on-exists", "skip"}));
  EXPECT_EQ(statuses(json), (Words{"done", "done"}));
  EXPECT_EQ(read_file(soft_ + "/p101.png"), "before");
  EXPECT_EQ(json["pictures"][1]["other_outputs"][0]["kept"], true);
  EXPECT_EQ(names_of(results_in(out_)), (Words{"p100.png", "p101.png"}));
  EXPECT_EQ(statuses(json_batch(words({"--on-exists", "skip"}))), (Words{"exists", "exists"}));
  ended(0, batch(words({"--on-exists", "overwrite"})));
  EXPECT_EQ(results_in(soft_), undisturbed());
}

TEST_F(BatchOutputs, ADryRunNamesThem) {
  put_many(1);
  EXPECT_TRUE(
      contains(good_batch(words({"--dry-run"})).out, out_ + "/p100.png, " + soft_ + "/p100.png: "));
  EXPECT_FALSE(fs::exists(soft_));
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(BatchOutputs, NoneAppearsOfAPictureThatFails) {
  put_many(1);
  put("damaged.png");
  write_file(in_ + "/damaged.png", read_file(in_ + "/damaged.png").substr(0, 1500));
  ended(1, batch(words()));
  EXPECT_EQ(names_of(results_in(soft_)), Words{"p100.png"});
  EXPECT_EQ(names_of(results_in(out_)), Words{"p100.png"});
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
