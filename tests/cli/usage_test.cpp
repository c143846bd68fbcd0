// Wrong usage is found before any picture is touched; "@FILE" on the command line.

#include "cli/program_fixture.hpp"
#include "codec/codec_table.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter::test {
namespace {

struct FilterUsage : ProgramTest {
  // Expects that these words after "in.png out.png" end with 2. The output already exists and the
  // input is not a picture, so touching either would show.
  void expect_refused(const Words& words, const Words& parts) const {
    write_file(folder_ / "in.png", "no picture");
    write_file(folder_ / "out.png", "before");
    expect_failure(2, Words{"in.png", "out.png", "--blur", "auto"} + words, parts,
                   {.folder = folder_.path()});
  }
};

TEST_F(FilterUsage, NamesAreRequiredAndDecideTheFormat) {
  expect_failure(2, {"--blur", "auto"}, {"INPUT is required", "--help"});
  expect_failure(2, {"in.png"}, {"OUTPUT is required", "--help"});
  expect_failure(2, {"in.png", "--blur", "tiled"}, {"OUTPUT is required"});
  write_file(folder_ / "in.png", "no picture");
  expect_failure(2, {"in.png", "in.png", "more.png"}, {"more.png: no such folder; "},
                 {.folder = folder_.path()});
  expect_failure(1, {"photso", "results", "--blur", "auto"}, {"photso: no such file or folder"});
  expect_failure(1, {"photso", "results", "--recursive"}, {"photso: no such file or folder"});
  for (const std::string name : {"out.gif", "out", "png", ".png.txt", "out.png.", "/dev/null"})
    expect_failure(2, {"missing.png", name}, {name + ": ", ".png", ".jpg"});
}

TEST_F(FilterUsage, OneLineTellsWhatIsWrongAndWhatIsPossible) {
  expect_refused({"--no-such-option"}, {"--no-such-option: "});
  expect_refused({"--no-such-option", "7"}, {"--no-such-option: "});
  expect_refused({"-z"}, {"-z: "});
  expect_refused({"--blur", "foo"}, {"--blur foo: choose naive, tiled or auto"});
  expect_refused({"--blur", "tield"}, {"--blur tield: ", "did you mean tiled?"});
  expect_refused({"--blurr", "tiled"}, {"--blurr: ", "did you mean --blur?"});
  expect_refused({"--quality", "101"}, {"'101'", "from 1 to 100"});
  expect_refused({"--device", "gpu", "--device", "cpu"}, {"--device", "more than once"});
  expect_refused({"--tile", "8"}, {"--tile 8: --blur auto does not take it", "--blur tiled"});
  expect_refused({"--color", "sepia", "--border", "wrap"},
                 {"--border wrap: --color sepia does not take it", "--blur"});
  expect_refused({"--border", "wrap", "--border", "mirror"},
                 {"--border wrap and --border mirror: ", "--blur auto"});
  expect_refused({"--device", "cpu", "--require-device"}, {"--require-device", "cpu"});
  expect_refused({"--trace", "in.png"}, {"in.png: ", "--trace"});
  expect_refused({"--trace", "./out.png"}, {"./out.png: ", "--trace"});
  expect_refused({"--trace", "-", "--timing", "json"}, {"--trace"});
  expect_failure(2, {"in.png", "not-yet.png", "--trace", "./not-yet.png"}, {"--trace"},
                 {.folder = folder_.path()});
  expect_failure(2, {"in.png", "-", "--trace", "-"}, {"--trace"}, {.folder = folder_.path()});
  expect_refused({"--quality", "80"}, {"--quality: PNG output does not take it"});
  expect_refused({"--subsampling", "420"}, {"--subsampling: PNG output does not take it"});
  expect_refused({"--restart", "off"}, {"--restart: PNG output does not take it"});
  expect_refused({"--progressive"}, {"--progressive: PNG output does not take it"});
  expect_refused({"--background", "red"}, {"--background: PNG output does not take it"});
  expect_failure(2, {"missing.png", "out.jpg", "--png-level", "3"},
                 {"--png-level: JPEG output does not take it"});
  expect_failure(2, {"-", "-", "--to", "png", "--quality", "80"},
                 {"--quality: PNG output does not take it"});
}

TEST_F(FilterUsage, BadValuesAreNamed) {
  const std::vector<std::pair<std::string, Words>> cases{
      {"--blur", {"foo", "", "Tiled", "9"}},
      {"--tile", {"0", "12", "x", "-8", "8.5"}},
      {"--border", {"foo", ""}},
      {"--alpha", {"foo"}},
      {"--quality", {"0", "101", "-1", "x", "85.5", "1e1", ""}},
      {"--subsampling", {"foo", "", "4:2:0", "440", "0"}},
      {"--restart", {"foo", "", "1"}},
      {"--png-level", {"-1", "10", "x"}},
      {"--max-pixels", {"0", "-1", "x", "1e3", "18446744073709551616"}},
      {"--band-rows", {"0", "-1", "x", "2147483648"}},
      {"--threads", {"0", "-1", "x", "1025"}},
      {"--max-memory", {"0", "", "x", "1T", "-1M", "18446744073709551616"}},
      {"--on-exists", {"foo"}},
      {"--timing", {"foo", "JSON"}},
      {"--progress", {"foo"}},
      {"--log-level", {"foo"}}};
  for (const auto& [option, values] : cases) {
    for (const std::string& value : values)
      expect_refused({std::string(option).append("=").append(value)}, {option});
    expect_refused({option}, {option, "needs a value"});
  }
  expect_refused({"--quality", "5\n6"}, {"'5\\n6' is not a whole number"});
  expect_refused({"--threads", "5\n6"}, {"'5\\n6' is not a whole number"});
  for (const std::string value : {"pink", "#12", "#12345g", "102030", "#", "#1234567"})
    expect_refused({"--background", value}, {"'" + value + "'", "#rrggbb"});
}

TEST_F(FilterUsage, TilesFitDevicesOfSmallWorkGroups) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string in = stored(random_image(size_, format_, 1), "in.png");
  // PoCL reports this as its limit; other devices ignore it.
  const ProcessOptions small{.environment = {{"POCL_MAX_WORK_GROUP_SIZE", "64"}}};
  const Json devices = Json::parse(filter({"devices", "--json"}, small).out)["devices"];
  if (devices[0]["max_work_group_size"] != 64) {
    GTEST_SKIP() << "skipped: no device whose work-groups can be limited";
  }
  // A CPU's tile is one work-item. SmallDevice in tests/stages tests refused tiles.
  EXPECT_EQ(devices[0]["blur_tiles"], Json::array({8, 16, 32}));
  for (const std::string tile : {"8", "16", "32"}) {
    filter_quietly({in, out_, "--device", "0", "--blur", "tiled", "--tile", tile}, small);
    EXPECT_TRUE(same_pixels(read_picture(out_), blurred(read_picture(in))));
  }
  filter_quietly({in, out_, "--device", "0", "--blur", "auto"}, small);
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(read_picture(in))));
}

TEST_F(FilterUsage, OptionsWithoutEffectBringAWarning) {
  const ProcessOptions here{.folder = folder_.path()};
  const auto warning = [&here](const Words& words) {
    return ended(0, filter(words + Words{"--timing", "off"}, here)).err;
  };
  static_cast<void>(stored(random_image(size_, {3, 8}, 1), "rgb.png"));
  static_cast<void>(stored(random_image(size_, {4, 8}, 1), "rgba.png"));
  static_cast<void>(stored(random_image(size_, {1, 8}, 1), "grey.png"));
  expect_one_line(warning({"rgb.png", "out.jpg", "--background", "red"}),
                  {"--background has no effect: the picture has no alpha"});
  EXPECT_FALSE(contains(warning({"rgba.png", "out.jpg", "--background", "red"}), "no effect"));
  expect_one_line(warning({"grey.png", "out.jpg", "--subsampling", "420"}),
                  {"--subsampling has no effect: the picture is grey"});
  EXPECT_EQ(warning({"grey.png", "out.jpg", "--subsampling", "420", "--color", "sepia"}), "");
  expect_one_line(warning({"rgb.png", "-", "--quality", "80"}),
                  {"--quality has no effect: the output is a PNG"});
  filter_quietly({"rgb.png", "out.jpg", "--background", "red"}, here);
}

TEST_F(FilterUsage, VersionIsANumber) {
  const ProcessResult version = ended(0, filter({"--version"}));
  EXPECT_EQ(version.err, "");
  EXPECT_TRUE(begins(version.out, "gpufilter "));
  EXPECT_NE(version.out.find('.'), std::string::npos);
  EXPECT_TRUE(ends(version.out, "\n" + codec_versions() + ", " + little_cms_of_build() + "\n"));
  EXPECT_EQ(filter({"-V"}).out, version.out);
  EXPECT_EQ(filter({"version"}).out, version.out);
}

// Each library costs every start of the program time.
TEST_F(FilterUsage, LibrariesOfOneFormatAreLoadedForItsPicturesOnly) {
  static_cast<void>(stored(random_image({3, 2}, {3, 8}, 1), "rgb.png"));
  const auto loads = [&](const Words& words, const std::string& library) {
    ProcessOptions options{.folder = folder_.path()};
    options.environment["LD_DEBUG"] = "files";
    return filter(words, options).err.find("file=" + library) != std::string::npos;
  };
  for (const std::string extension : {"tiff", "webp", "jxl", "heic"}) {
    const std::string library = "lib" + (extension == "heic" ? "heif" : extension.substr(0, 4));
    EXPECT_FALSE(loads({"--version"}, library));
    EXPECT_FALSE(loads({"rgb.png", "out.jpg"}, library));
    if (codec_of_name("a." + extension) == nullptr) continue;
    EXPECT_TRUE(loads({"rgb.png", "out." + extension}, library));
  }
}

// The words of other programs are answered with ours.

struct ForeignWords : ProgramTest {
  void expect_answer(const Words& words, const std::string& answer) const {
    expect_call(Words{"in.png", "out.jpg"} + words, answer);
  }

  // The first word is an option of another program; `option` is ours.
  void expect_meant(const Words& words, const std::string& option) const {
    const std::string given = words.front().substr(0, words.front().find('='));
    expect_answer(words, given + ": unknown option; did you mean " + option + "?");
  }

  void expect_call(const Words& command, const std::string& answer) const {
    const ProcessResult result = ended(2, filter(command, {.folder = folder_.path()}));
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "gpufilter: " + answer + "\n");
    EXPECT_TRUE(names_in(folder_.path()).empty());
  }

  // The answer that depends on whether the program has an option yet.
  static std::string either(const std::string& option, const std::string& with,
                            const std::string& without) {
    static const std::string all = filter({"--help-all"}).out;
    return all.find("  " + option + " ") != std::string::npos ? with : without;
  }
};

TEST_F(ForeignWords, OptionsWithOneDash) {
  expect_meant({"-quality", "85"}, "--quality 85");
  expect_meant({"-quality"}, "--quality 1..100");
  expect_meant({"-q85"}, "--quality N");
  expect_meant({"-Q", "85"}, "--quality N");
  expect_meant({"-recursive"}, "--recursive");
  expect_meant({"-resize", "50%"}, "--resize WxH");
  expect_meant({"-blur", "0x3"}, "--gaussian 3");
  expect_meant({"-blur", "3"}, "--gaussian SIGMA");
  expect_meant({"-median", "2"}, "--median 2");
  expect_meant({"-morphology", "Open", "Square:2"}, "--open RADIUS");
  expect_meant({"-alpha", "remove"}, "--flatten COLOR");
  for (const std::string name : {"-sharpen", "-unsharp"})
    expect_answer({name, "0x1"}, name + ": unknown option; did you mean --sharpen AMOUNT?");
  expect_answer({"-strip"}, "-strip: unknown option; " +
                                either("--strip", "did you mean --strip?",
                                       "metadata is carried over, and no option removes it yet"));
  expect_meant({"-modulate", "100,130"}, "--color saturate=1.3");
  expect_meant({"-modulate", "110,150,50"},
               "--color brightness=1.1 --color saturate=1.5 --hue -90");
  expect_meant({"-modulate", "110%"},
               "--color brightness=1.1, --color saturate=1.3 or --color hue=90");
  expect_meant({"-normalize"}, "--levels auto");
}

TEST_F(ForeignWords, OptionsOfToolsForFiles) {
  const std::string names = ": unknown option; names need no option: gpufilter INPUT OUTPUT";
  expect_call({"-i", "in.png", "out.png"}, "-i" + names);
  expect_call({"in.png", "-o", "out.png"}, "-o" + names);
  expect_call(
      {"in.png", "--output=out.png"},
      "OUTPUT is required: --output only saves pictures within the chain; gpufilter INPUT OUTPUT");
  for (const std::string name : {"-y", "--force", "--overwrite"})
    expect_answer({name}, name + ": unknown option; did you mean --on-exists overwrite?");
  expect_answer(
      {"-f"},
      "-f: unknown option; --on-exists overwrite replaces existing files, --to sets the format");
  expect_meant({"-r"}, "--recursive");
  expect_meant({"-j4"}, "--jobs N");
  // -h within a word that is not a group of known letters does not request help.
  expect_meant({"-hald-clut", "film.png"}, "--lut film.png");
  expect_meant({"-hue", "30"}, "--hue 30");
  ended(0, filter({"-vh"}));
  // Words that begin with a known letter are not mistaken for it.
  expect_answer({"-vq", "-z"}, "-z: unknown option (see gpufilter --help-all)");
  expect_answer({"-vx"}, "-vx: unknown option (see gpufilter --help-all)");
}

TEST_F(ForeignWords, FiltersByName) {
  expect_meant({"-colorspace", "Gray"}, "--gray");
  expect_meant({"-negate"}, "--invert");
  expect_meant({"-gamma", "2.2"}, "--gamma 2.2");
  expect_meant({"-threshold", "50%"}, "--binarize LEVEL");
  expect_meant({"-flatten"}, "--flatten COLOR");
  expect_meant({"--sepia"}, "--color sepia");
  expect_meant({"--sepia", "0.5"}, "--color sepia=0.5");
  expect_meant({"--grayscale"}, "--gray");
  expect_meant({"--greyscale"}, "--gray");
  expect_meant({"--saturation", "1.3"}, "--color saturate=1.3");
  expect_meant({"--saturation"}, "--color saturate=1.5");
  expect_meant({"--gaussian-blur", "2"}, "--gaussian SIGMA");
  expect_meant({"--jpeg"}, "--to jpg");
  expect_meant({"--png"}, "--to png");
}

TEST_F(ForeignWords, SizesTurnsNumbersAndFormats) {
  expect_meant({"--upscale", "2"}, "--resize 200%");
  expect_meant({"--upscale", "1.5x"}, "--resize 150%");
  expect_meant({"--width", "800"}, "--resize 800");
  expect_meant({"--height", "600"}, "--resize x600");
  expect_meant({"--auto-rotate"}, "--auto-orient");
  expect_answer({"--flip", "horizontal"},
                "horizontal: --flip takes no value; did you mean --flop?");
  expect_answer({"--flop", "vertical"}, "vertical: --flop takes no value; did you mean --flip?");
  expect_answer({"--gaussian", "0,5"},
                "--gaussian 0,5: a number from 0.2 to 50; did you mean 0.5?");
  expect_answer({"--color", "saturate=0,5"},
                "--color saturate=0,5: '0,5' is not a number; did you mean 0.5?");
  expect_answer({"--sharpen", "2000%"}, "--sharpen 2000%: a number from 0 to 10");
  expect_answer({"--gaussian", "50%"}, "--gaussian 50%: a number from 0.2 to 50");
  for (const auto& [value, ours] : std::vector<std::pair<std::string, std::string>>{
           {"20", "1.2"}, {"-30", "0.7"}, {"-100", "0.1"}, {"0", "1"}}) {
    for (const std::string option : {"--contrast", "--brightness"})
      expect_answer({option, value}, option + " " + value + ": 1 changes nothing; did you mean " +
                                         option + " " + ours + "?");
  }
  expect_answer({"--contrast", "200"}, "--contrast 200: a number from 0.1 to 10");
  for (const std::string value : {"otsu", "50%"}) {
    expect_answer({"--sharpen", "1", "--threshold", value},
                  "--threshold " + value + ": --binarize " + value +
                      " makes pixels black or white; --threshold goes with --sharpen");
  }
  for (const std::string value : {"3", "0x3", "5x5", "2.5"}) {
    expect_answer({"--blur", value},
                  "--blur " + value + ": the blur is always 3x3; --gaussian SIGMA blurs more");
  }
  const ProcessResult to =
      ended(2, filter({"in.png", "out/", "--to", "gif"}, {.folder = folder_.path()}));
  EXPECT_TRUE(begins(to.err, "gpufilter: --to: GIF is not supported; choose png, "));
  EXPECT_TRUE(
      begins(ended(2, filter({"in.png", "out.gif"}, {.folder = folder_.path()})).err,
             "gpufilter: out.gif: GIF is not supported; the name of an output must end in .png, "));
}

TEST_F(ForeignWords, Subcommands) {
  for (const auto& [word, ours] :
       {std::pair{"identify", "gpufilter info FILE"},
        std::pair{"histogram", "gpufilter stats FILE"}, std::pair{"diff", "gpufilter compare A B"},
        std::pair{"benchmark", "gpufilter bench WHAT"},
        std::pair{"convert", "gpufilter INPUT OUTPUT"},
        std::pair{"mogrify", "gpufilter INPUT... --in-place"}}) {
    expect_call(
        {word, "a.png"},
        std::string(word) + ": not a subcommand or a picture; did you mean '" + ours + "'?");
    expect_call({word}, std::string(word) + ": not a subcommand or a picture; did you mean '" +
                            ours + "'?");
  }
}

// A word that is meant as something else never becomes an input or an output folder.

// In a folder with a.png, o.png, "photos" with a picture in it, and a link that leads nowhere.
struct MisplacedWords : ProgramTest {
  void SetUp() override {
    fs::create_directory(folder_ / "photos");
    for (const char* name : {"a.png", "o.png", "photos/p.png"})
      static_cast<void>(stored(random_image(size_, format_, 1), name));
    fs::create_symlink("nowhere", folder_ / "broken.png");
  }

  // The whole message; nothing changes.
  void expect_answer(const Words& words, const std::string& answer) const {
    expect_failure(2, words, {}, {.folder = folder_.path()});
    EXPECT_EQ(filter(words, {.folder = folder_.path()}).err, "gpufilter: " + answer + "\n")
        << ::testing::PrintToString(words);
    EXPECT_EQ(names_in(folder_.path()), names_);
  }

  void make_folders(const Words& names) {
    for (const std::string& name : names)
      fs::create_directory(folder_ / name);
    names_ = names_in(folder_.path());
  }

  [[nodiscard]] ProcessResult here(const Words& words) const {
    return filter(words, {.folder = folder_.path()});
  }

  Words names_{"a.png", "broken.png", "o.png", "photos"};
};

TEST_F(MisplacedWords, AfterAnOptionThatTakesNoValue) {
  const std::string quality = "85: -q takes no value; did you mean --quality 85?";
  expect_answer({"a.png", "o.png", "-q", "85"}, quality);
  expect_answer({"a.png", "-q", "85"}, quality);
  expect_answer({"a.png", "-q", "85", "o.png"}, quality);
  expect_answer({"a.png", "o.png", "--verify", "8"},
                "8: --verify takes its value after '='; did you mean --verify=8?");
  expect_answer(
      {"photos", "out", "--recursive", "true"},
      "true: --recursive takes no value; for a file or folder of this name, write ./true");
  expect_answer({"photos", "--recursive", "3"},
                "3: --recursive takes no value; for a file or folder of this name, write ./3");
  // A file of this name changes nothing.
  make_folders({"85", "8", "true"});
  expect_answer({"a.png", "o.png", "-q", "85"}, quality);
  expect_answer({"a.png", "o.png", "--verify", "8"},
                "8: --verify takes its value after '='; did you mean --verify=8?");
  expect_answer({"a.png", "o.png", "--progressive", "true"},
                "true: --progressive takes no value; for a file or folder of this name, write "
                "./true");
}

TEST_F(MisplacedWords, AfterTheValueOfAnOption) {
  const std::string sepia = "0.6: --color takes one value; did you mean --color sepia=0.6?";
  expect_answer({"a.png", "o.png", "--color", "sepia", "0.6"}, sepia);
  expect_answer({"photos", "--color", "sepia", "0.6"}, sepia);
  expect_answer({"a.png", "o.png", "--color=sepia", "0.6"}, sepia);
  expect_answer({"a.png", "o.png", "--color", "brightness", "1.2"},
                "1.2: --color takes one value; did you mean --color brightness=1.2?");
  expect_answer({"a.png", "o.png", "--levels", "auto", "0.5"},
                "0.5: --levels takes one value; did you mean --levels auto=0.5?");
  expect_answer({"a.png", "o.png", "--levels", "16", "235"},
                "235: --levels takes one value; did you mean --levels 16,235?");
  expect_answer({"a.png", "--blur", "auto", "3"},
                "3: --blur takes one value; to apply it 3 times, write --blur auto 3 times");
  expect_answer({"a.png", "o.jpg", "--quality", "85", "90"}, "90: --quality takes one value");
  expect_answer({"a.png", "o.png", "--color", "1", "0", "0"},
                "0: --color takes one value; put quotes around a value that contains blanks");
  make_folders({"0.6"});
  expect_answer({"a.png", "o.png", "--color", "sepia", "0.6"}, sepia);
}

TEST_F(MisplacedWords, APatternThatTheShellReplaced) {
  const std::string answer =
      ": --match takes one pattern; quote it, so that the shell leaves it alone: '*.png'";
  expect_answer({"photos", "out", "--match", "a.png", "o.png"}, "o.png" + answer);
  expect_answer({"photos", "out", "--match", "a.png", "broken.png", "o.png"},
                "broken.png" + answer);
}

TEST_F(MisplacedWords, InThePlaceOfAnInputOrAFolder) {
  expect_answer({"a.png", "o.png", "sepia"}, "sepia: no such folder; did you mean --color sepia?");
  expect_answer({"a.png", "o.png", "auto"},
                "auto: no such folder; did you mean --blur auto, --levels auto or --white-balance "
                "auto?");
  expect_answer({"a.png", "o.png", "brightness"},
                "brightness: no such folder; did you mean --color brightness=1.25?");
  expect_answer({"a.png", "o.png", "recursive"},
                "recursive: no such folder; did you mean --recursive?");
  expect_answer({"a.png", "o.png", "out"},
                "out: no such folder; several inputs need a folder for their results, and out/ "
                "creates it");
  expect_answer({"a.png", "sepia"},
                "sepia: not the name of a picture; did you mean --color sepia?");
  const std::string input = "sepia: no such file or folder; did you mean --color sepia?";
  expect_answer({"sepia", "o.png"}, input);
  expect_answer({"sepia", "a.png", "o.png"}, input);
  expect_answer({"a.png", "sepia", "photos"}, input);
  expect_answer({"a.png", "missing.png", "photos"}, "missing.png: no such file or folder");
  expect_answer({"recurse", "photos", "new"},
                "recurse: no such file or folder; did you mean --recursive?");
  expect_answer({"-q", "compare", "a.png", "o.png"},
                "compare: no such file or folder; did you mean gpufilter compare ...?");
}

TEST_F(MisplacedWords, NamesAreStillNames) {
  // A new folder for the results of a folder, or with a slash of several inputs.
  ended(0, here({"photos", "2024", "-q"}));
  ended(0, here({"photos", "sepia", "--color", "sepia", "-q"}));
  ended(0, here({"a.png", "o.png", "-q", "85/"}));
  EXPECT_EQ(names_in(folder_ / "85"), (Words{".gpufilter-journal", "a.png", "o.png"}));
  ended(0, here({"a.png", "o.png", "--resume", "--quiet", "--", "85"}));
  ended(0, here({"photos", "out", "--match", "p*.png", "-q"}));
  ended(0, here({"--match", "*.png", "photos", "new", "-q"}));
  // A link that leads nowhere is a path; the other pictures are done.
  ended(1, here({"a.png", "broken.png", "results/", "-q"}));
  EXPECT_TRUE(fs::exists(folder_ / "results/a.png"));
}

// "@FILE" on the command line, and the recipes in samples/.

struct RecipeRuns : ProgramTest {
  void SetUp() override { static_cast<void>(stored(random_image(size_, format_, 1), "in.png")); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  [[nodiscard]] ProcessResult here(const Words& words) const {
    return filter(words, {.folder = folder_.path()});
  }
};

TEST_F(RecipeRuns, GivesTheSamePictureAsItsWords) {
  write("look", "# a look\n--color \"1 0 0\n  0 1 0\n  0 0 0.5\"\n--blur auto --border mirror\n");
  EXPECT_EQ(here({"in.png", "recipe.png", "@look", "-q"}).err, "");
  EXPECT_EQ(here({"in.png", "words.png", "--color", "1 0 0;0 1 0;0 0 0.5", "--blur", "auto",
                  "--border", "mirror", "-q"})
                .err,
            "");
  EXPECT_EQ(read_file(folder_ / "recipe.png"), read_file(folder_ / "words.png"));
  write("all", "stats in.png --json");
  ended(0, here({"@all"}));
  EXPECT_EQ(here({"@all"}).out, here({"stats", "in.png", "--json"}).out);
}

TEST_F(RecipeRuns, MistakesNameFileAndLine) {
  const auto expect = [&](const std::string& text, const std::string& message) {
    write("r", text);
    expect_failure(2, {"in.png", "out.png", "@r"}, {}, {.folder = folder_.path()});
    EXPECT_EQ(here({"in.png", "out.png", "@r"}).err, "gpufilter: " + message + "\n");
  };
  expect("--blur auto\n--resize 0x4", "r:2: --resize 0x4: sides are from 1 to 1000000 pixels");
  expect("\n--nothing-known", "r:2: --nothing-known: unknown option (see gpufilter --help-all)");
  expect("--gray\n\n--blur auto --tile 8",
         "r:3: --tile 8: --blur auto does not take it; it goes after --blur tiled");
  expect("--lut\n  none.cube", "r:2: none.cube: no such file");
  expect("--gray\n@r", "r:2: @r: this recipe includes itself");
}

TEST_F(RecipeRuns, AnOptionGivenTwiceIsRefusedWithAllPlaces) {
  write("r", "--blur auto\n--to png\n");
  const auto complaint = [&](const Words& words) { return ended(2, here(words)).err; };
  const std::string begin = "gpufilter: --to is given more than once";
  const std::string end = " (see gpufilter --help)\n";
  EXPECT_EQ(complaint({"in.png", "out/", "@r", "--to", "jpg", "--to", "png"}),
            begin + ": in r:2 and on the command line and on the command line" + end);
  EXPECT_EQ(complaint({"in.png", "out/", "@r", "@r"}), begin + ": in r:2 and in r:2" + end);
  EXPECT_EQ(complaint({"in.png", "out/", "--to", "jpg", "--to", "png"}), begin + end);
  write("r", "--blur auto\n--to png\n");
  write("equals", "--to=png --gray");
  for (const Words& words :
       {Words{"@r", "--to", "webp"}, {"--to=webp", "@r"}, {"--to", "webp", "@equals"}}) {
    EXPECT_EQ(ended(0, here(Words{"in.png", "-", "-q"} + words)).out.substr(8, 4), "WEBP")
        << words.back();
  }
}

TEST_F(RecipeRuns, InstalledFilesAreFoundByName) {
  for (const std::string word : {"@web-gallery", "@web-gallery.recipe"})
    EXPECT_EQ(ended(0, here({"in.png", "-", word, "-q"})).out.substr(8, 4), "WEBP");
  for (const Words& stage : {Words{"--net", "denoise.onnx"},
                             {"--net", "denoise"},
                             {"--mlp", "golden-hour"},
                             {"--lut", "film"},
                             {"--color", "warm.txt"},
                             {"--profile", "display-p3"}}) {
    const ProcessResult result = here({"in.png", "-", stage[0], stage[1], "-q", "--device", "cpu"});
    EXPECT_EQ(result.exit_code, 0) << stage[1] << result.err;
  }
  // A file of that name in the folder comes first, and a path is never looked for elsewhere.
  write("film.cube", "LUT_3D_SIZE 0\n");
  ended(2, here({"in.png", "-", "--lut", "film.cube"}));
  ended(2, here({"in.png", "-", "--net", "./denoise.onnx"}));
  ended(2, filter({"in.png", "-", "--net", "denoise.onnx"},
                  {.environment = {{"GPUFILTER_DATA", "/nowhere"}}, .folder = folder_.path()}));
}

TEST_F(RecipeRuns, SamplesWork) {
  const std::string samples = GPUFILTER_SOURCE "/samples/recipes";
  int count = 0;
  for (const auto& entry : fs::directory_iterator(samples)) {
    // In 16 bits as well, without a warning about values of 8 bits.
    for (const std::string picture : {"in.png", GPUFILTER_SOURCE "/samples/gradient-16bit.png"}) {
      const ProcessResult result = here({picture, "out/", "@" + entry.path().string(), "--device",
                                         "cpu", "--on-exists", "overwrite"});
      EXPECT_EQ(result.exit_code, 0) << entry.path() << result.err;
      EXPECT_FALSE(contains(result.err, "warning")) << entry.path() << result.err;
    }
    ++count;
  }
  EXPECT_EQ(count, 4);
}

}  // namespace
}  // namespace gpufilter::test
