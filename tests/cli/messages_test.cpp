// Messages and progress.

#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"
#include "support/jpeg.hpp"
#include "support/pseudo_terminal.hpp"

namespace gpufilter::test {
namespace {

// The form of messages: labels, colours, strange names, and the effect of -v and -q.

struct Messages : OnePicture {
  Messages() { fs::create_directory(folder_ / "empty"); }

  // On a terminal that shows colours.
  [[nodiscard]] static ProcessResult on_terminal(const Words& words,
                                                 std::map<std::string, std::string> more = {}) {
    more.emplace("TERM", "xterm");
    more.emplace("NO_COLOR", "");
    return filter(words, {.environment = std::move(more), .err_is_terminal = true});
  }

  [[nodiscard]] ProcessResult no_opencl(const Words& words) const {
    return filter(words, {.environment = {{"OCL_ICD_VENDORS", folder_ / "empty"},
                                          {"OCL_ICD_FILENAMES", ""}}});
  }

  // A JPEG whose EXIF requests a rotation.
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
};

TEST_F(Messages, ErrorsAreRedOnATerminalUnlessAskedOtherwise) {
  const Words words{missing_, out_};
  EXPECT_EQ(on_terminal(words).err, red_error_);
  EXPECT_EQ(filter(words).err, plain_error_);
  EXPECT_EQ(filter(words, {.environment = {{"TERM", "xterm"}}}).err, plain_error_);
  EXPECT_EQ(on_terminal(words, {{"NO_COLOR", "1"}}).err, plain_error_);
  EXPECT_EQ(on_terminal(words, {{"TERM", "dumb"}}).err, plain_error_);
  EXPECT_EQ(on_terminal(words, {{"TERM", ""}}).err, plain_error_);
  EXPECT_EQ(on_terminal({missing_, out_, "--color-output", "never"}).err, plain_error_);
  EXPECT_EQ(filter({missing_, out_, "--color-output", "always"}).err, red_error_);
  EXPECT_EQ(on_terminal({missing_, out_, "--color-output=always"}, {{"NO_COLOR", "1"}}).err,
            red_error_);
  EXPECT_EQ(on_terminal({missing_, out_, "--color-output", "auto"}).err, red_error_);
  EXPECT_EQ(filter({missing_, out_, "--color-output", "yes"}).err,
            "gpufilter: --color-output: 'yes' is not one of auto, always, never (see gpufilter "
            "--help)\n");
  EXPECT_TRUE(begins(ended(2, filter({in_, out_, "--color-output=always", "--no-such-option"})).err,
                     "\033[1;31mgpufilter:\033[0m --no-such-option"));
}

TEST_F(Messages, SubcommandsSpeakTheSameWay) {
  for (const Words& words : {Words{"compare", missing_, in_}, {"stats", missing_}}) {
    EXPECT_EQ(on_terminal(words).err, red_error_) << words.front();
    EXPECT_EQ(filter(words).err, plain_error_) << words.front();
    Words never = words;
    never.insert(never.end(), {"--color-output", "never"});
    EXPECT_EQ(on_terminal(never).err, plain_error_) << words.front();
  }
  EXPECT_TRUE(begins(filter({"devices", "--color-output", "always", "--foo"}).err,
                     "\033[1;31mgpufilter:\033[0m --foo"));
}

TEST_F(Messages, WarningsAreLabelled) {
  const std::string alpha = stored(random_image(size_, {4, 8}, 1), "alpha.png");
  const std::string out = folder_ / "out.jpg";
  const Words words{alpha, out, "--timing", "off"};
  const std::string text = out +
                           ": alpha is flattened onto #ffffff, because JPEG has none; --background "
                           "sets another colour\n";
  EXPECT_EQ(filter(words).err, "gpufilter: warning: " + text);
  std::string shown = on_terminal(words).err;
  // Lines break between words.
  for (std::size_t end = shown.find("\n  "); end != std::string::npos; end = shown.find("\n  "))
    shown.replace(end, 3, " ");
  EXPECT_EQ(shown, "gpufilter: \033[1;35mwarning:\033[0m " + text);
}

TEST_F(Messages, QuietNeverHidesAFallback) {
  const ProcessResult one = ended(0, no_opencl({in_, out_, "--blur", "tiled", "-q"}));
  EXPECT_TRUE(begins(one.err, "gpufilter: warning: "));
  expect_one_line(one.err, {"no OpenCL device found", "the processor"});
  const std::string many = folder_ / "many";
  fs::create_directory(many);
  fs::copy(in_, many + "/a.png");
  fs::copy(in_, many + "/b.png");
  expect_one_line(ended(0, no_opencl({many, folder_ / "results", "--blur", "tiled", "-q"})).err,
                  {"warning: ", "no OpenCL device found", "the processor"});
}

TEST_F(Messages, VerboseNamesDevicePlanAndCode) {
  const ProcessResult result =
      ended(0, filter({in_, out_, "--blur", "auto", "--color", "sepia", "--color", "sepia",
                       "--device", "cpu", "--timing", "off", "-v"}));
  EXPECT_EQ(result.out, "");
  expect_parts(result.err, {"gpufilter: device: processor (requested)\n",
                            "gpufilter: plan: 3 stages; 1 band of 45 rows, 1 at a time in ",
                            "gpufilter: blur: ", "gpufilter: color: "});
  EXPECT_TRUE(contains(filter({in_, out_, "--blur", "auto", "--timing", "off", "-vv"}).err,
                       "gpufilter: estimates: decode "));
}

TEST_F(Messages, VerboseSaysWhereProgramsCameFrom) {
  GPUFILTER_REQUIRE_DEVICE();
  const Words words{in_, out_, "--blur", "tiled", "--require-device", "--timing", "off", "-v"};
  const ProcessOptions fresh{.environment = {{"XDG_CACHE_HOME", folder_ / "cache"}}};
  expect_parts(filter(words, fresh).err,
               {"tiled 16x16 (requested), program compiled\n", "gpufilter: start: find devices "});
  EXPECT_TRUE(
      contains(filter(words, fresh).err, "tiled 16x16 (requested), program from the cache\n"));
}

// A newline, a sequence that clears the screen, a letter of two bytes, a byte that is not UTF-8.
TEST_F(Messages, StrangeNamesAreShownEscaped) {
  const std::string strange = "a\n\033[2J\xc3\xbc\xff.png";
  const std::string shown = "a\\n\\x1b[2J\xc3\xbc\\xff.png";
  fs::create_directory(folder_ / "many");
  fs::copy(stored(random_image(size_, format_, 1), strange), folder_.path() / "many" / strange);
  const ProcessOptions here{.folder = folder_.path()};
  const std::vector<Words> calls{{strange, "out.png", "--blur", "auto"},
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

// The progress, as terminals of any width show it.

struct ProgressOnTerminal : BatchTest {
  [[nodiscard]] static Words words(const Words& more) { return Words{GPUFILTER_PROGRAM} + more; }

  // Eighty pictures take a second or so.
  [[nodiscard]] Words slow_folder(int pictures = 80) const {
    put_many(pictures, {500, 200});
    return words({"in", "out", "--blur", "auto", "--device", "cpu", "--png-level", "8", "--jobs",
                  "1", "-q", "--progress", "on"});
  }

  static void expect_no_trace(const TerminalScreen& screen) {
    EXPECT_EQ(screen.wraps(), 0) << ::testing::PrintToString(screen.erased());
    EXPECT_EQ(screen.unknown(), "");
    EXPECT_EQ(screen.rows(), Words{});
  }
};

TEST_F(ProgressOnTerminal, AFolderHasOneLineOfAnyWidth) {
  const Words command = slow_folder();
  for (const int columns : {40, 60, 80, 200}) {
    fs::remove_all(out_);
    PseudoTerminal terminal(command, folder_.path(), columns);
    TerminalScreen screen(static_cast<std::size_t>(columns));
    screen.write(terminal.read_to_end());
    EXPECT_EQ(terminal.wait(), 0);
    expect_no_trace(screen);
    ASSERT_GT(screen.erased().size(), 3U);
    const std::string& line = screen.erased().back();
    EXPECT_LT(line.size(), static_cast<std::size_t>(columns));
    expect_parts(line, {"/80 pictures, ", " left"});
    EXPECT_EQ(line.find(" pictures/s") != std::string::npos, columns >= 60) << line;
    if (columns != 80) {
      EXPECT_EQ(line.find(" Mpx/s") != std::string::npos, columns == 200) << line;
    }
  }
}

TEST_F(ProgressOnTerminal, ItFollowsTheWindow) {
  PseudoTerminal terminal(slow_folder(150), folder_.path(), 200);
  TerminalScreen screen(200);
  const auto see_more = [&](std::size_t lines) {
    const std::size_t enough = screen.erased().size() + lines;
    for (std::string text = "-"; !text.empty() && screen.erased().size() < enough;) {
      text = terminal.read();
      screen.write(text);
    }
    return screen.erased().back();
  };
  EXPECT_TRUE(contains(see_more(3), " Mpx/s"));
  for (const std::size_t columns : {40U, 60U, 30U}) {
    terminal.resize(static_cast<int>(columns),
                    [&](const std::string& text) { screen.write(text); });
    screen.resize(columns);
    // The first of them was drawn earlier.
    const std::string line = see_more(2);
    EXPECT_LT(line.size(), columns) << line;
    EXPECT_GT(line.size(), columns / 2) << line;
  }
  screen.write(terminal.read_to_end());
  EXPECT_EQ(terminal.wait(), 0);
  expect_no_trace(screen);
}

TEST_F(ProgressOnTerminal, FailuresStandAboveIt) {
  const Words command = slow_folder();
  write_file(in_ + "/p120x.png", "text");
  PseudoTerminal terminal(command, folder_.path(), 120);
  TerminalScreen screen(120);
  screen.write(terminal.read_to_end());
  EXPECT_EQ(terminal.wait(), 1);
  EXPECT_EQ(screen.wraps(), 0);
  EXPECT_EQ(screen.rows(),
            Words{"gpufilter: in/p120x.png: not a " + gpufilter::names_of(codecs()) + " picture"});
}

// A picture that arrives piece by piece through a pipe called `name`.
struct OnePictureOnTerminal : ProgressOnTerminal {
  [[nodiscard]] TerminalScreen watch(const std::string& name, int columns) const {
    const std::string path = folder_ / name;
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    PseudoTerminal terminal(words({name, "out.png", "-q", "--progress", "on", "--band-rows", "8",
                                   "--on-exists", "overwrite"}),
                            folder_.path(), columns);
    std::thread writer([&] {
      const FileDescriptor pipe = open_file(path, O_WRONLY);
      for (std::size_t begin = 0; begin < bytes_.size(); begin += bytes_.size() / 8 + 1) {
        const std::string piece = bytes_.substr(begin, bytes_.size() / 8 + 1);
        write_fully(pipe.get(),
                    {reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()});
        std::this_thread::sleep_for(std::chrono::milliseconds(110));
      }
    });
    TerminalScreen screen(static_cast<std::size_t>(columns));
    screen.write(terminal.read_to_end());
    writer.join();
    EXPECT_EQ(terminal.wait(), 0);
    fs::remove(path);
    return screen;
  }

  const std::string bytes_ = read_file(stored(random_image({1000, 700}, {3, 8}, 1), "whole.png"));
};

TEST_F(OnePictureOnTerminal, HasTheSameBarWithTimeLeft) {
  for (const int columns : {40, 60, 80, 200}) {
    const TerminalScreen screen = watch("in.png", columns);
    expect_no_trace(screen);
    ASSERT_GT(screen.erased().size(), 1U);
    const std::string& line = screen.erased().back();
    EXPECT_TRUE(begins(line, "in.png, "));
    EXPECT_TRUE(contains(line, " % [##"));
    EXPECT_TRUE(ends(line, " left"));
  }
}

TEST_F(OnePictureOnTerminal, WideAndStrangeNamesDoNotWrap) {
  const std::string cat = "\xe7\x8c\xab";
  for (const auto& [name, columns] : each_of(
           std::vector<std::string>{
               cat + cat + cat + cat + cat + cat + cat + cat + cat + cat + cat + cat + "!.png",
               std::string("a\xcc\x88") + "\xff\n\r\033[2J.png", std::string(200, 'x') + ".png"},
           std::array{20, 40, 80})) {
    const TerminalScreen screen = watch(name, columns);
    expect_no_trace(screen);
    ASSERT_FALSE(screen.erased().empty());
  }
}

TEST_F(ProgressOnTerminal, WithoutATerminalNothingIsShownUntilTheEnd) {
  Words command = slow_folder();
  command.erase(command.begin());
  command.resize(command.size() - 3);  // no -q, and progress as it is by default
  command.insert(command.end(), {"--timing", "off"});
  const ProcessResult result = filter(command, {.folder = folder_.path()});
  EXPECT_TRUE(begins(result.err, "in -> out: 80 pictures done\n"));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
}

}  // namespace
}  // namespace gpufilter::test
