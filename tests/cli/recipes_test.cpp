// "@FILE" on the command line, and the recipes in samples/.
#include <fstream>

#include "cli/program_fixture.hpp"

namespace gpufilter::test {
namespace {

class RecipeRuns : public ProgramTest {
 protected:
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
}

TEST_F(RecipeRuns, MayHoldTheWholeCommand) {
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
}

TEST_F(RecipeRuns, OptionsOnTheCommandLineOverrideThoseInRecipes) {
  write("r", "--blur auto\n--to png\n");
  write("equals", "--to=png --gray");
  for (const Words& words :
       {Words{"@r", "--to", "webp"}, {"--to=webp", "@r"}, {"--to", "webp", "@equals"}}) {
    EXPECT_EQ(ended(0, here(Words{"in.png", "-", "-q"} + words)).out.substr(8, 4), "WEBP")
        << words.back();
  }
}

TEST_F(RecipeRuns, InstalledFilesAreFoundByName) {
  for (const std::string word : {"@web-gallery", "@web-gallery.recipe"}) {
    EXPECT_EQ(ended(0, here({"in.png", "-", word, "-q"})).out.substr(8, 4), "WEBP");
  }
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
