// The words of other programs are answered with ours.
#include "cli/filter_fixture.hpp"

namespace gpufilter::test {
namespace {

using Words = std::vector<std::string>;

class ForeignWords : public FilterTest {
 protected:
  void expect_answer(const Words& words, const std::string& answer) const {
    Words command{"in.png", "out.jpg"};
    command.insert(command.end(), words.begin(), words.end());
    expect_call(command, answer);
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
  expect_answer({"-quality", "85"}, "-quality: unknown option; did you mean --quality 85?");
  expect_answer({"-quality"}, "-quality: unknown option; did you mean --quality 1..100?");
  expect_answer({"-q85"}, "-q85: unknown option; did you mean --quality N?");
  expect_answer({"-Q", "85"}, "-Q: unknown option; did you mean --quality N?");
  expect_answer({"-recursive"}, "-recursive: unknown option; did you mean --recursive?");
  expect_answer({"-resize", "50%"}, "-resize: unknown option; did you mean --resize WxH?");
  expect_answer({"-blur", "0x3"}, "-blur: unknown option; did you mean --gaussian 3?");
  expect_answer({"-blur", "3"}, "-blur: unknown option; did you mean --gaussian SIGMA?");
  expect_answer({"-median", "2"}, "-median: unknown option; did you mean --median 2?");
  expect_answer({"-morphology", "Open", "Square:2"},
                "-morphology: unknown option; did you mean --open RADIUS?");
  expect_answer({"-alpha", "remove"}, "-alpha: unknown option; did you mean --flatten COLOR?");
  expect_answer({"-threshold", "50%"},
                "-threshold: unknown option; no stage reduces a picture to a few levels");
  for (const std::string name : {"-sharpen", "-unsharp"}) {
    expect_answer({name, "0x1"}, name + ": unknown option; did you mean --sharpen AMOUNT?");
  }
  expect_answer({"-strip"}, "-strip: unknown option; " +
                                either("--strip", "did you mean --strip?",
                                       "metadata is carried over, and no option removes it yet"));
  expect_answer({"-modulate", "100,130"},
                "-modulate: unknown option; did you mean --color saturate=1.3?");
  expect_answer({"-modulate", "110,150,50"},
                "-modulate: unknown option; did you mean --color brightness=1.1 --color "
                "saturate=1.5 --hue -90?");
  expect_answer({"-modulate", "110%"},
                "-modulate: unknown option; did you mean --color brightness=1.1, --color "
                "saturate=1.3 or --color hue=90?");
  expect_answer({"-normalize"}, "-normalize: unknown option; did you mean --levels auto?");
}

TEST_F(ForeignWords, OptionsOfToolsForFiles) {
  const std::string names = ": unknown option; names need no option: gpufilter INPUT OUTPUT";
  expect_call({"-i", "in.png", "out.png"}, "-i" + names);
  expect_call({"in.png", "-o", "out.png"}, "-o" + names);
  expect_call({"in.png", "--output=out.png"},
              "OUTPUT is required: --output names only what is written before the end of the "
              "chain; gpufilter INPUT OUTPUT");
  for (const std::string name : {"-y", "--force", "--overwrite"})
    expect_answer({name}, name + ": unknown option; did you mean --on-exists overwrite?");
  expect_answer({"-f"},
                "-f: unknown option; --on-exists overwrite replaces existing files, --to sets the "
                "format");
  expect_answer({"-r"}, "-r: unknown option; did you mean --recursive?");
  expect_answer({"-j4"}, "-j4: unknown option; did you mean --jobs N?");
}

TEST_F(ForeignWords, FiltersByName) {
  expect_answer({"-colorspace", "Gray"}, "-colorspace: unknown option; did you mean --gray?");
  expect_answer({"-negate"}, "-negate: unknown option; did you mean --invert?");
  expect_answer({"-gamma", "2.2"}, "-gamma: unknown option; did you mean --gamma 2.2?");
  expect_answer({"-flatten"}, "-flatten: unknown option; did you mean --flatten COLOR?");
  expect_answer({"--sepia"}, "--sepia: unknown option; did you mean --color sepia?");
  expect_answer({"--sepia", "0.5"}, "--sepia: unknown option; did you mean --color sepia=0.5?");
  expect_answer({"--grayscale"}, "--grayscale: unknown option; did you mean --gray?");
  expect_answer({"--greyscale"}, "--greyscale: unknown option; did you mean --gray?");
  expect_answer({"--brightness=1.2"},
                "--brightness: unknown option; did you mean --color brightness=1.2?");
  expect_answer({"--contrast"}, "--contrast: unknown option; did you mean --color contrast=1.25?");
  expect_answer({"--saturation", "1.3"},
                "--saturation: unknown option; did you mean --color saturate=1.3?");
  expect_answer({"--saturation"},
                "--saturation: unknown option; did you mean --color saturate=1.5?");
  expect_answer({"--gaussian-blur", "2"},
                "--gaussian-blur: unknown option; did you mean --gaussian SIGMA?");
  expect_answer({"--jpeg"}, "--jpeg: unknown option; did you mean --to jpg?");
  expect_answer({"--png"}, "--png: unknown option; did you mean --to png?");
}

TEST_F(ForeignWords, SizesAndTurns) {
  expect_answer({"--upscale", "2"}, "--upscale: unknown option; did you mean --resize 200%?");
  expect_answer({"--upscale", "1.5x"}, "--upscale: unknown option; did you mean --resize 150%?");
  expect_answer({"--width", "800"}, "--width: unknown option; did you mean --resize 800?");
  expect_answer({"--height", "600"}, "--height: unknown option; did you mean --resize x600?");
  expect_answer({"--auto-rotate"}, "--auto-rotate: unknown option; did you mean --auto-orient?");
  expect_answer({"--flip", "horizontal"},
                "horizontal: --flip takes no value; did you mean --flop?");
  expect_answer({"--flop", "vertical"}, "vertical: --flop takes no value; did you mean --flip?");
}

TEST_F(ForeignWords, FormatsThatAreNotWritten) {
  const ProcessResult to =
      ended(2, filter({"in.png", "out/", "--to", "gif"}, {.folder = folder_.path()}));
  EXPECT_TRUE(to.err.starts_with("gpufilter: --to: GIF is not supported; choose png, ")) << to.err;
  const ProcessResult name = ended(2, filter({"in.png", "out.gif"}, {.folder = folder_.path()}));
  EXPECT_TRUE(name.err.starts_with(
      "gpufilter: out.gif: GIF is not supported; the name of an output must end in .png, "))
      << name.err;
}

TEST_F(ForeignWords, NumbersAsTheyAreWrittenElsewhere) {
  expect_answer({"--gaussian", "0,5"},
                "--gaussian 0,5: a number from 0.2 to 50; did you mean 0.5?");
  expect_answer({"--color", "saturate=0,5"},
                "--color saturate=0,5: '0,5' is not a number; did you mean 0.5?");
  expect_answer({"--sharpen", "2000%"}, "--sharpen 2000%: a number from 0 to 10");
  expect_answer({"--gaussian", "50%"}, "--gaussian 50%: a number from 0.2 to 50");
}

TEST_F(ForeignWords, ARadiusOfTheBlur) {
  for (const std::string value : {"3", "0x3", "5x5", "2.5"}) {
    expect_answer({"--blur", value},
                  "--blur " + value + ": the blur is always 3x3; --gaussian SIGMA blurs more");
  }
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

// -h within a word that is no group of known letters does not ask for help.
TEST_F(ForeignWords, OptionsThatBeginWithH) {
  expect_answer({"-hald-clut", "film.png"},
                "-hald-clut: unknown option; did you mean --lut film.png?");
  expect_answer({"-hue", "30"}, "-hue: unknown option; did you mean --hue 30?");
  EXPECT_EQ(filter({"-vh"}).exit_code, 0);
}

// Words that begin with a known letter are not mistaken for it.
TEST_F(ForeignWords, ShortOptionsMayStillBeJoined) {
  expect_answer({"-vq", "-z"}, "-z: unknown option (see gpufilter --help-all)");
  expect_answer({"-vx"}, "-vx: unknown option (see gpufilter --help-all)");
}

}  // namespace
}  // namespace gpufilter::test
