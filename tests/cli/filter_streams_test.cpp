// Pictures through pipes, and which output goes to which stream.
#include "base/format.hpp"
#include "cli/program_fixture.hpp"

namespace gpufilter::test {
namespace {

class FilterStreams : public ProgramTest {
 protected:
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

TEST_F(FilterStreams, StandardInputToStandardOutput) {
  EXPECT_TRUE(same_pixels(decoded(filter_quietly({"-", "-", "--blur", "tiled"}, from_in_).out),
                          blurred(image_)));
}

TEST_F(FilterStreams, OneSideMayBeAFile) {
  EXPECT_TRUE(
      same_pixels(decoded(filter_quietly({in_, "-", "--blur", "naive"}).out), blurred(image_)));
  const std::string out = folder_ / "out.png";
  EXPECT_EQ(filter_quietly({"-", out, "--blur", "naive"}, from_in_).out, "");
  EXPECT_TRUE(same_pixels(read_picture(out), blurred(image_)));
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

TEST_F(FilterStreams, TheNameOfAnOutputDecidesItsFormat) {
  expect_failure(2, {in_, folder_ / "out.jpg", "--to", "png"},
                 {"--to png: ", "out.jpg is the name of a JPEG"});
  expect_failure(2, {in_, folder_ / "out.png", "--to", "jpeg"},
                 {"--to jpg: ", "out.png is the name of a PNG"});
  expect_failure(2, {in_, folder_ / "out", "--to", "png"}, {"out: ", ".png"});
  filter_quietly({in_, folder_ / "out.JPG", "--to", "jpeg"});
  EXPECT_EQ(read_file(folder_ / "out.JPG").substr(0, 3), "\xff\xd8\xff");
}

TEST_F(FilterStreams, InAFolderTheNameFollowsTheFormat) {
  fs::create_directory(folder_.path() / "results");
  filter_quietly({in_, folder_ / "results", "--to", "jpg"});
  EXPECT_EQ(read_file(folder_ / "results/in.jpg").substr(0, 3), "\xff\xd8\xff");
}

TEST_F(FilterStreams, TimingForPeopleGoesToStandardError) {
  const ProcessResult result = ended(0, filter({in_, folder_ / "out.png", "--blur", "naive"}));
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(contains(result.err, "\ntotal "));
}

TEST_F(FilterStreams, JsonAndCsvGoToStandardOutput) {
  for (const std::string format : {"json", "csv"}) {
    const ProcessResult result = ended(0, filter({in_, folder_ / "out.png", "--timing", format}));
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out.front(), format == "json" ? '{' : 'd');
    EXPECT_EQ(result.out.back(), '\n');
  }
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
  const std::string out = folder_ / "out.png";
  const ProcessOptions cut{.input = bytes.substr(0, bytes.size() / 2)};
  expect_failure(1, {"-", out, "--blur", "auto"}, {"standard input: "}, cut);
  expect_failure(1, {"-", out}, {"standard input: ", "empty"});
  expect_failure(1, {"-", out}, {"standard input: ", "not a PNG, "},
                 {.input = "no picture at all"});
}

// `true` reads nothing, and has ended when its pipe, without a writer, is opened for writing.
TEST_F(FilterStreams, AReaderThatGoesAwayEndsTheProgramSilently) {
  const std::string status = folder_ / "status";
  const std::string many = folder_ / "many";
  fs::create_directory(many);
  fs::copy(in_, many + "/a.png");
  const std::string out = folder_ / "out.png";
  for (const std::string words :
       {R"("$1" - --blur auto -q)", R"("$1" - -q --json)", R"("$1" "$2" -q --timing json)",
        R"("$1" "$2" -q --timing csv)", R"("$1" "$2" -q --json)", R"("$1" "$2" --dry-run)",
        R"("$1" "$2" -q --timing off --trace -)", R"("$3" "$3"/out --blur auto -q --json)",
        "--help", "--help-all", "--version", "help blur", "devices", "devices --json",
        R"(stats "$1")", R"(stats "$1" --json)", R"(compare "$1" "$1" --json)",
        R"(compare "$3" "$3" --json)"}) {
    fs::remove(out);
    const ProcessResult result =
        shell(formatted(R"({{ sleep 0.1; "$0" {}; echo $? > "$4"; }} | true)", words),
              {in_, out, many, status});
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
    const ProcessResult result = shell(script, {in_, folder_ / "out.png"});
    EXPECT_EQ(result.exit_code, 1) << script;
    expect_one_line(result.err, {"standard output: ", "no space left"});
  }
}

TEST_F(FilterStreams, ClosedStreamsAreFailuresToo) {
  expect_one_line(ended(1, shell(R"(exec "$0" - "$1" -q <&-)", {folder_ / "out.png"})).err,
                  {"standard input: "});
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
