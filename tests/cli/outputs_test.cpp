// Where results go: --output, pipes and streams.

#include "cli/batch_fixture.hpp"
#include "stages/resize/resize.hpp"

namespace gpufilter::test {
namespace {

struct Outputs : OnePicture {
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

  const std::string grey_ = folder_ / "grey.png";
};

TEST_F(Outputs, HoldWhatTheChainHoldsThere) {
  const ProcessResult result = ended(
      0, filter({in_, out_, "--gray", "--output", grey_, "--blur", "auto", "--device", "cpu"}));
  expect_grey_and_blurred(grey_, out_);
  EXPECT_TRUE(contains(result.err, "\nalso " + grey_ + ": 67x45, grey, 8-bit; PNG, "));
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
  EXPECT_EQ(ended(2, filter({"-", "-", "--output", folder_ / ""}, {.input = read_file(in_)})).err,
            "gpufilter: --output " + (folder_ / "") +
                ": is a folder, and standard input has no name; name a file\n");
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
  // The reverse order.
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
  EXPECT_TRUE(contains(with({"--dry-run"}), "\nalso " + grey_ + ": 34x23, RGB, 8-bit; PNG\n"));
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

// Losses are reported for each output.
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

struct BatchOutputs : BatchTest {
  // The command blurs; the pictures of the other folder are blurred, those of OUTDIR also flopped.
  [[nodiscard]] Words words(const Words& more = {}) const {
    return Words{"--output", soft_, "--flop"} + more;
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

// Pictures through pipes, and which output goes to which stream.

struct FilterStreams : ProgramTest {
  const Image image_ = random_image({211, 97}, {4, 16}, 1);
  const std::string in_ = stored(image_, "in.png");
  const ProcessOptions from_in_{.input = read_file(in_)};

  // The program with its streams redirected by a shell.
  static ProcessResult shell(const std::string& script, const Words& words) {
    return run_process(Words{"/bin/sh", "-c", script, GPUFILTER_PROGRAM} + words,
                       with_defaults({}));
  }

  [[nodiscard]] Image decoded(const std::string& bytes) const {
    write_file(folder_ / "decoded", bytes);
    return read_picture(folder_ / "decoded");
  }
};

TEST_F(FilterStreams, EitherSideMayBeAFile) {
  EXPECT_TRUE(same_pixels(decoded(filter_quietly({"-", "-", "--blur", "tiled"}, from_in_).out),
                          blurred(image_)));
  EXPECT_TRUE(
      same_pixels(decoded(filter_quietly({in_, "-", "--blur", "naive"}).out), blurred(image_)));
  EXPECT_EQ(filter_quietly({"-", out_, "--blur", "naive"}, from_in_).out, "");
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
}

TEST_F(FilterStreams, StandardOutputKeepsTheInputsFormat) {
  const std::string jpeg = folder_ / "in.jpg";
  write_picture(random_image({33, 21}, {3, 8}, 2).rows(), jpeg);
  EXPECT_EQ(filter_quietly({jpeg, "-"}).out.substr(0, 3), "\xff\xd8\xff");
  EXPECT_EQ(filter_quietly({in_, "-"}).out.substr(1, 3), "PNG");
}

TEST_F(FilterStreams, StandardOutputHasTheFormatAskedFor) {
  EXPECT_EQ(filter_quietly({in_, "-", "--to", "jpg"}).out.substr(0, 3), "\xff\xd8\xff");
  EXPECT_EQ(filter_quietly({in_, "-", "--to", "jpeg", "--quality", "50"}).out.substr(0, 3),
            "\xff\xd8\xff");
  const std::string jpeg = folder_ / "in.jpg";
  write_picture(random_image({33, 21}, {3, 8}, 2).rows(), jpeg);
  const ProcessResult png = filter_quietly({jpeg, "-", "--to", "png", "--png-level", "1"});
  EXPECT_TRUE(same_pixels(decoded(png.out), read_picture(jpeg)));
  const ProcessOptions from_jpeg{.input = read_file(jpeg)};
  EXPECT_EQ(filter_quietly({"-", "-", "--to", "png"}, from_jpeg).out,
            filter_quietly({jpeg, "-", "--to", "png"}).out);
}

TEST_F(FilterStreams, TheNameOfAnOutputDecidesItsFormatButInAFolder) {
  expect_failure(2, {in_, folder_ / "out.jpg", "--to", "png"},
                 {"--to png: ", "out.jpg is the name of a JPEG"});
  expect_failure(2, {in_, out_, "--to", "jpeg"}, {"--to jpg: ", "out.png is the name of a PNG"});
  expect_failure(2, {in_, folder_ / "out", "--to", "png"}, {"out: ", ".png"});
  filter_quietly({in_, folder_ / "out.JPG", "--to", "jpeg"});
  EXPECT_EQ(read_file(folder_ / "out.JPG").substr(0, 3), "\xff\xd8\xff");
  fs::create_directory(folder_.path() / "results");
  filter_quietly({in_, folder_ / "results", "--to", "jpg"});
  EXPECT_EQ(read_file(folder_ / "results/in.jpg").substr(0, 3), "\xff\xd8\xff");
}

TEST_F(FilterStreams, NothingMixesWithAPictureOnStandardOutput) {
  for (const std::string format : {"line", "table", "json", "csv"}) {
    const ProcessResult result =
        ended(0, filter({in_, "-", "--blur", "naive", "--timing", format, "-vv"}));
    EXPECT_TRUE(same_pixels(decoded(result.out), blurred(image_))) << format;
    EXPECT_TRUE(contains(result.err, "decode"));
  }
}

TEST_F(FilterStreams, DamagedStandardInputIsNamed) {
  const std::string bytes = read_file(in_);
  const ProcessOptions cut{.input = bytes.substr(0, bytes.size() / 2)};
  expect_failure(1, {"-", out_, "--blur", "auto"}, {"standard input: "}, cut);
  expect_failure(1, {"-", out_}, {"standard input: ", "empty"});
  expect_failure(1, {"-", out_}, {"standard input: ", "not a PNG, "},
                 {.input = "no picture at all"});
}

// `true` reads nothing, and has ended when its pipe, without a writer, is opened for writing.
TEST_F(FilterStreams, AReaderThatGoesAwayEndsTheProgramSilently) {
  const std::string status = folder_ / "status";
  const std::string many = folder_ / "many";
  fs::create_directory(many);
  fs::copy(in_, many + "/a.png");
  for (const std::string words :
       {R"("$1" - --blur auto -q)", R"("$1" - -q --json)", R"("$1" "$2" -q --timing json)",
        R"("$1" "$2" -q --timing csv)", R"("$1" "$2" -q --json)", R"("$1" "$2" --dry-run)",
        R"("$1" "$2" -q --timing off --trace -)", R"("$3" "$3"/out_ --blur auto -q --json)",
        "--help", "--help-all", "--version", "help blur", "devices", "devices --json",
        R"(stats "$1")", R"(stats "$1" --json)", R"(compare "$1" "$1" --json)",
        R"(compare "$3" "$3" --json)"}) {
    fs::remove(out_);
    const ProcessResult result =
        shell(formatted(R"({{ sleep 0.1; "$0" {}; echo $? > "$4"; }} | true)", words),
              {in_, out_, many, status});
    EXPECT_EQ(read_file(status), "141\n") << words;
    EXPECT_EQ(result.err, "") << words;
  }
  for (const std::string& name : names_in(folder_.path()))
    EXPECT_FALSE(contains(name, ".out."));
}

TEST_F(FilterStreams, AFullStandardOutputIsAFailure) {
  for (const char* script :
       {R"(exec "$0" "$1" - -q > /dev/full)", R"(exec "$0" "$1" "$2" --timing json > /dev/full)",
        R"(exec "$0" "$1" "$2" --timing csv > /dev/full)", R"(exec "$0" devices > /dev/full)"}) {
    const ProcessResult result = shell(script, {in_, out_});
    EXPECT_EQ(result.exit_code, 1) << script;
    expect_one_line(result.err, {"standard output: ", "no space left"});
  }
}

TEST_F(FilterStreams, ClosedStreamsAreFailuresToo) {
  expect_one_line(ended(1, shell(R"(exec "$0" - "$1" -q <&-)", {out_})).err, {"standard input: "});
  expect_one_line(ended(1, shell(R"(exec "$0" "$1" - -q >&-)", {in_})).err, {"standard output: "});
  EXPECT_EQ(names_in(folder_.path()), (Words{"in.png"}));
}

TEST_F(FilterStreams, ATerminalIsNoPlaceForAPicture) {
  // script(1) gives its command a terminal.
  const std::string line = std::string(GPUFILTER_PROGRAM) + " '" + in_ + "' - --timing off";
  const std::string shell_script =
      R"(command -v script > /dev/null || exit 99; exec script -qec "$0" "$1")";
  const ProcessResult result =
      run_process({"/bin/sh", "-c", shell_script, line, folder_ / "log"}, with_defaults({}));
  if (result.exit_code == 99) GTEST_SKIP() << "skipped: no script program here";
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.out, "standard output: is a terminal"));
}

}  // namespace
}  // namespace gpufilter::test
