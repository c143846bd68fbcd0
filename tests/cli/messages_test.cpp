// The form of messages: labels, colours, strange names, and the effect of -v and -q.
#include "cli/batch_fixture.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {
namespace {

class Messages : public FilterTest {
 protected:
  Messages() { std::filesystem::create_directory(folder_ / "empty"); }

  // On a terminal that shows colours.
  [[nodiscard]] static ProcessResult on_terminal(const std::vector<std::string>& words,
                                                 std::map<std::string, std::string> more = {}) {
    more.emplace("TERM", "xterm");
    more.emplace("NO_COLOR", "");
    return filter(words, {.environment = std::move(more), .err_is_terminal = true});
  }

  [[nodiscard]] ProcessResult no_opencl(const std::vector<std::string>& words) const {
    return filter(words, {.environment = {{"OCL_ICD_VENDORS", folder_ / "empty"},
                                          {"OCL_ICD_FILENAMES", ""}}});
  }

  // A JPEG whose EXIF data asks for a rotation.
  [[nodiscard]] std::string turned_jpeg() const {
    const std::string exif(
        "Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", 32);
    JpegRecipe recipe;
    recipe.after_start = [&exif](jpeg_compress_struct& info) {
      jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(exif.data()),
                        static_cast<unsigned>(exif.size()));
    };
    const Bytes jpeg = encode_with_libjpeg(textured_raster(40, 30, 3), recipe);
    std::string path = folder_ / "turned.jpg";
    write_file(path, std::string(jpeg.begin(), jpeg.end()));
    return path;
  }

  const std::string missing_ = folder_ / "missing.png";
  const std::string plain_error_ = "gpufilter: " + missing_ + ": no such file\n";
  const std::string red_error_ = "\033[1;31mgpufilter:\033[0m " + missing_ + ": no such file\n";
  const std::string in_ = stored(random_image(size_, format_, 1), "in.png");
  const std::string out_ = folder_ / "out.png";
};

TEST_F(Messages, ErrorsAreRedOnATerminalAlone) {
  const std::vector<std::string> words{missing_, out_};
  EXPECT_EQ(on_terminal(words).err, red_error_);
  EXPECT_EQ(filter(words).err, plain_error_);
  EXPECT_EQ(filter(words, {.environment = {{"TERM", "xterm"}}}).err, plain_error_);
}

TEST_F(Messages, TheEnvironmentRefusesColours) {
  const std::vector<std::string> words{missing_, out_};
  EXPECT_EQ(on_terminal(words, {{"NO_COLOR", "1"}}).err, plain_error_);
  EXPECT_EQ(on_terminal(words, {{"TERM", "dumb"}}).err, plain_error_);
  EXPECT_EQ(on_terminal(words, {{"TERM", ""}}).err, plain_error_);
}

TEST_F(Messages, TheOptionWinsOverTerminalAndEnvironment) {
  EXPECT_EQ(on_terminal({missing_, out_, "--color-output", "never"}).err, plain_error_);
  EXPECT_EQ(filter({missing_, out_, "--color-output", "always"}).err, red_error_);
  EXPECT_EQ(on_terminal({missing_, out_, "--color-output=always"}, {{"NO_COLOR", "1"}}).err,
            red_error_);
  EXPECT_EQ(on_terminal({missing_, out_, "--color-output", "auto"}).err, red_error_);
  EXPECT_EQ(filter({missing_, out_, "--color-output", "yes"}).err,
            "gpufilter: --color-output: 'yes' is not one of auto, always, never (see gpufilter "
            "--help)\n");
}

TEST_F(Messages, TheOptionCountsForWrongUsageToo) {
  const ProcessResult result =
      ended(2, filter({in_, out_, "--color-output=always", "--no-such-option"}));
  EXPECT_TRUE(result.err.starts_with("\033[1;31mgpufilter:\033[0m --no-such-option")) << result.err;
}

TEST_F(Messages, SubcommandsSpeakTheSameWay) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"compare", missing_, in_}, {"stats", missing_}}) {
    EXPECT_EQ(on_terminal(words).err, red_error_) << words.front();
    EXPECT_EQ(filter(words).err, plain_error_) << words.front();
    std::vector<std::string> never = words;
    never.insert(never.end(), {"--color-output", "never"});
    EXPECT_EQ(on_terminal(never).err, plain_error_) << words.front();
  }
  const ProcessResult usage = filter({"devices", "--color-output", "always", "--foo"});
  EXPECT_TRUE(usage.err.starts_with("\033[1;31mgpufilter:\033[0m --foo")) << usage.err;
}

TEST_F(Messages, WarningsAreLabelled) {
  const std::string alpha = stored(random_image(size_, {4, 8}, 1), "alpha.png");
  const std::string out = folder_ / "out.jpg";
  const std::vector<std::string> words{alpha, out, "--timing", "off"};
  const std::string text = out +
                           ": alpha is flattened onto #ffffff, because JPEG has none; --background "
                           "sets another colour\n";
  EXPECT_EQ(filter(words).err, "gpufilter: warning: " + text);
  std::string shown = on_terminal(words).err;
  // It breaks at words.
  for (std::size_t end = shown.find("\n  "); end != std::string::npos; end = shown.find("\n  "))
    shown.replace(end, 3, " ");
  EXPECT_EQ(shown, "gpufilter: \033[1;35mwarning:\033[0m " + text);
}

TEST_F(Messages, QuietNeverHidesAFallback) {
  const ProcessResult one = ended(0, no_opencl({in_, out_, "--blur", "tiled", "-q"}));
  EXPECT_TRUE(one.err.starts_with("gpufilter: warning: ")) << one.err;
  expect_one_line(one.err, {"no OpenCL device found", "the processor"});
  const std::string many = folder_ / "many";
  std::filesystem::create_directory(many);
  std::filesystem::copy(in_, many + "/a.png");
  std::filesystem::copy(in_, many + "/b.png");
  const ProcessResult folder =
      ended(0, no_opencl({many, folder_ / "results", "--blur", "tiled", "-q"}));
  expect_one_line(folder.err, {"warning: ", "no OpenCL device found", "the processor"});
}

TEST_F(Messages, VerboseNamesDevicePlanAndCode) {
  const ProcessResult result =
      ended(0, filter({in_, out_, "--blur", "auto", "--color", "sepia", "--color", "sepia",
                       "--device", "cpu", "--timing", "off", "-v"}));
  EXPECT_EQ(result.out, "");
  expect_parts(result.err, {"gpufilter: device: processor (requested)\n",
                            "gpufilter: plan: 3 stages; 1 band of 45 rows, 1 at a time in ",
                            "gpufilter: blur: ", "gpufilter: color: "});
  const ProcessResult all = filter({in_, out_, "--blur", "auto", "--timing", "off", "-vv"});
  EXPECT_TRUE(contains(all.err, "gpufilter: estimates: decode "));
}

TEST_F(Messages, VerboseSaysWhereProgramsCameFrom) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::vector<std::string> words{in_,        out_,  "--blur", "tiled", "--require-device",
                                       "--timing", "off", "-v"};
  const ProcessOptions fresh{.environment = {{"XDG_CACHE_HOME", folder_ / "cache"}}};
  const ProcessResult first = filter(words, fresh);
  expect_parts(first.err,
               {"tiled 16x16 (requested), program compiled\n", "gpufilter: start: find devices "});
  const ProcessResult second = filter(words, fresh);
  EXPECT_TRUE(contains(second.err, "tiled 16x16 (requested), program from the cache\n"));
}

// A newline, a sequence that clears the screen, a letter of two bytes, a byte that is not UTF-8.
TEST_F(Messages, StrangeNamesAreShownEscaped) {
  const std::string strange = "a\n\033[2J\xc3\xbc\xff.png";
  const std::string shown = "a\\n\\x1b[2J\xc3\xbc\\xff.png";
  std::filesystem::create_directory(folder_ / "many");
  const std::string path = stored(random_image(size_, format_, 1), strange);
  std::filesystem::copy(path, folder_.path() / "many" / strange);
  const ProcessOptions here{.folder = folder_.path()};
  const std::vector<std::vector<std::string>> calls{{strange, "out.png", "--blur", "auto"},
                                                    {strange, "out.png", "--timing", "table"},
                                                    {strange, "out.png", "-vv"},
                                                    {strange, "out.png", "--progress", "on"},
                                                    {"in.png", strange + "x"},
                                                    {"missing" + strange, "out.png"},
                                                    {strange, strange},
                                                    {"compare", strange, "in.png"},
                                                    {"compare", strange, strange},
                                                    {"compare", strange, "missing" + strange},
                                                    {"stats", strange},
                                                    {"stats", "missing" + strange},
                                                    {"many", "results", "-v"},
                                                    {"many", "results", "--resume", "-v"},
                                                    {"many", "planned", "--dry-run"},
                                                    {"in.png", "out.png", strange}};
  for (const auto& call : calls) {
    SCOPED_TRACE(::testing::PrintToString(call));
    const ProcessResult result = filter(call, here);
    std::string text = result.out + result.err;
    for (const char* own : {"\r", "\033[J"}) {  // the program's own, for the progress
      for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own))
        text.erase(at, std::string(own).size());
    }
    EXPECT_TRUE(contains(text, shown));
    EXPECT_FALSE(contains(text, strange.substr(0, 3)));
    EXPECT_EQ(text.find('\033'), std::string::npos) << text;
    EXPECT_EQ(text.find('\xff'), std::string::npos) << text;
  }
}

TEST_F(Messages, StrangeNamesKeepJsonValid) {
  const std::string strange = folder_ / "a\n\033[2J\xc3\xbc\xff.png";
  write_png(random_image(size_, format_, 1), strange);
  const Json json = Json::parse(filter({strange, out_, "--timing", "json"}).out);
  EXPECT_EQ(json["input"], folder_ / "a\n\033[2J\xc3\xbc\uFFFD.png");
}

TEST_F(Messages, AnOrientationIsNamedWhereItIsNotApplied) {
  const std::string in = turned_jpeg();
  const std::string part = "EXIF orientation 6";
  const std::string line = filter({in, out_}).err;
  EXPECT_TRUE(contains(line, ": 40x30, RGB, 8-bit, " + part + " not applied; "));
  EXPECT_EQ(line.find(part), line.rfind(part)) << "said once";
  EXPECT_EQ(Json::parse(filter({in, out_, "--timing", "json"}).out)["exif_orientation"], 6);
  EXPECT_TRUE(contains(filter({in, out_, "--timing", "off", "-v"}).err, part));
  EXPECT_EQ(filter({in, out_, "-q"}).err, "");
  // Carried over: the PNG says the same.
  EXPECT_TRUE(contains(filter({out_, folder_ / "again.png"}).err, part));
  EXPECT_FALSE(contains(filter({in_, out_}).err, "EXIF"));
}

}  // namespace
}  // namespace gpufilter::test
