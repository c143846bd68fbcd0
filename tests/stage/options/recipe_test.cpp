// The words of recipes, and how they take the place of "@FILE".
#include "stage/options/recipe.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/objection.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

// "1:word 2:word"
std::string split(const std::string& text) {
  std::string all;
  for (const RecipeWord& word : recipe_words(text, "r"))
    all += (all.empty() ? "" : "|") + std::to_string(word.line) + ":" + word.text;
  return all;
}

TEST(RecipeWords, EndWithBlanksAndLines) {
  EXPECT_EQ(split(""), "");
  EXPECT_EQ(split(" \n\t\n"), "");
  EXPECT_EQ(split("--blur auto\n\n\t--resize 800x"), "1:--blur|1:auto|3:--resize|3:800x");
  EXPECT_EQ(split("\xef\xbb\xbf--gray\r\n--invert\r\n"), "1:--gray|2:--invert");
}

TEST(RecipeWords, CommentsBeginWithAWord) {
  EXPECT_EQ(split("# all\n--blur # \"no quote\nauto#1 ##\n#"), "2:--blur|3:auto#1");
  EXPECT_EQ(split("'#fff' \\#000 \"\"#1"), "1:#fff|1:#000|1:#1");
}

TEST(RecipeWords, QuotesAreThoseOfAShell) {
  EXPECT_EQ(split("'a b' \"c  d\"e'f' ''"), "1:a b|1:c  def|1:");
  EXPECT_EQ(split(R"("a \" \\ \n $x" 'b \')"), R"(1:a " \ \n $x|1:b \)");
  EXPECT_EQ(split(R"(a\ b \"c \\ ~ *)"), R"(1:a b|1:"c|1:\|1:~|1:*)");
  EXPECT_EQ(split("--color \"1 0 0\n0 1 0\" x"), "1:--color|1:1 0 0\n0 1 0|2:x");
  EXPECT_EQ(split("a\\\nb \\\r\n c\\"), "1:ab|3:c\\");
}

TEST(RecipeWords, OpenQuotesAreRefused) {
  EXPECT_EQ(objection_to([] { return split("a\n--color 'b\nc"); }),
            "r:2: the quote ' is not closed");
  EXPECT_EQ(objection_to([] { return split("\"a\\\""); }), "r:1: the quote \" is not closed");
}

class Recipe : public testing::Test {
 protected:
  void SetUp() override { fs::current_path(folder_.path()); }
  void TearDown() override { fs::current_path("/"); }

  static void write(const std::string& name, const std::string& text) {
    const fs::path path(name);
    if (path.has_parent_path()) fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  static std::string expanded(const std::vector<std::string>& words) {
    std::string all;
    for (const PlacedWord& word : with_recipes(words))
      all += (all.empty() ? "" : "|") + word.place + (word.place.empty() ? "" : " ") + word.text;
    return all;
  }

  static std::string refusal(const std::vector<std::string>& words) {
    return objection_to([&] { return with_recipes(words); });
  }

  TemporaryFolder folder_;
};

TEST_F(Recipe, TakesThePlaceOfItsName) {
  write("r", "--blur auto\n--gray");
  EXPECT_EQ(expanded({"a", "@r", "b"}), "a|r:1 --blur|r:1 auto|r:2 --gray|b");
  EXPECT_EQ(expanded({"@r", "@r"}),
            "r:1 --blur|r:1 auto|r:2 --gray|r:1 --blur|r:1 auto|r:2 --gray");
  write("empty", "# nothing\n");
  EXPECT_EQ(expanded({"a", "@empty"}), "a");
}

TEST_F(Recipe, MayBeginWithAByteOrderMark) {
  write("r", "\xEF\xBB\xBF--gray");
  EXPECT_EQ(expanded({"@r"}), "r:1 --gray");
}

TEST_F(Recipe, OtherWordsMayBeginWithTheSign) {
  write("r", "--gray");
  EXPECT_EQ(expanded({"./@r", "--name=@r", "@", "--", "@r"}), "./@r|--name=@r|@|--|@r");
  write("names", "-- @r");
  EXPECT_EQ(expanded({"@names", "@r"}), "names:1 --|names:1 @r|@r");
}

TEST_F(Recipe, MayIncludeOthers) {
  write("look/all", "@part\n@../other --gray");
  write("look/part", "\n--invert");
  write("other", "--flip");
  EXPECT_EQ(expanded({"@look/all"}),
            "look/part:2 --invert|look/../other:1 --flip|look/all:2 --gray");
  // One in the current folder is found too.
  write("look/far", "@other");
  EXPECT_EQ(expanded({"@look/far"}), "other:1 --flip");
}

TEST_F(Recipe, FilesOfStagesAreLookedForBesideIt) {
  for (const char* name : {"look/film.cube", "look/sepia", "look/warm.txt", "look/mirror"})
    write(name, "");
  write("look/r",
        "--lut film.cube --lut=film.cube --color warm.txt --color sepia --lut other.cube in.png "
        "--border mirror");
  EXPECT_EQ(expanded({"@look/r"}),
            "look/r:1 --lut|look/r:1 look/film.cube|look/r:1 --lut=look/film.cube|look/r:1 --color|"
            "look/r:1 look/warm.txt|look/r:1 --color|look/r:1 sepia|look/r:1 --lut|"
            "look/r:1 other.cube|look/r:1 in.png|look/r:1 --border|look/r:1 mirror");
}

TEST_F(Recipe, ThatIncludesItselfIsRefused) {
  write("a", "--gray\n@a");
  EXPECT_EQ(refusal({"@a"}), "a:2: @a: this recipe includes itself");
  write("b", "@c");
  write("c", "\n\n@./b");
  EXPECT_EQ(refusal({"@b"}), "c:3: @./b: this recipe includes itself");
}

TEST_F(Recipe, ThatGrowsWithoutEndIsRefused) {
  write("r0", "a b c d e f g h");
  for (int i = 1; i < 20; ++i) {
    const std::string before = "@r" + std::to_string(i - 1);
    write("r" + std::to_string(i), before + " " + before + " " + before);
  }
  EXPECT_EQ(refusal({"@r19"}), "r0:1: the recipes have more than 100000 words");
}

TEST_F(Recipe, ThatCannotBeReadIsRefused) {
  const std::string remedy =
      "; a word that begins with '@' names a recipe; write ./@NAME for a file and --OPTION=@VALUE "
      "for a value of this name";
  EXPECT_EQ(refusal({"@none"}), "@none: no such file" + remedy);
  write("r", "--gray\n@none");
  EXPECT_EQ(refusal({"@r"}), "r:2: @none: no such file" + remedy);
  fs::create_directory("folder");
  EXPECT_EQ(refusal({"@folder"}), "@folder: is a folder" + remedy);
  write("picture", std::string("\x89PNG\0", 5));
  EXPECT_EQ(refusal({"@picture"}), "@picture: is not a text file" + remedy);
  write("large", std::string((1U << 20U) + 1, '\n'));
  EXPECT_EQ(refusal({"@large"}), "@large: is larger than 1 MiB" + remedy);
}

TEST_F(Recipe, MessagesNameThePlaceOfTheirWord) {
  write("r", "--blur auto\n--resize 0x4 --quality=200\n--tile 8");
  const auto words = with_recipes({"in.png", "--resize", "4x4", "@r", "--tile", "8"});
  const auto place = [&](const std::string& reason) { return with_place(words, reason); };
  EXPECT_EQ(place("--resize 0x4: too small"), "r:2: --resize 0x4: too small");
  EXPECT_EQ(place("--resize 4x4: too small"), "--resize 4x4: too small");
  EXPECT_EQ(place("--quality: too large"), "r:2: --quality: too large");
  EXPECT_EQ(place("--blur needs a value"), "r:1: --blur needs a value");
  EXPECT_EQ(place("--blurred: unknown"), "--blurred: unknown");
  EXPECT_EQ(place("in.png: no such file"), "in.png: no such file");
  // The second of two equal words is superfluous.
  EXPECT_EQ(place("--tile 8 and --tile 8: --blur takes only one"),
            "--tile 8 and --tile 8: --blur takes only one");
}

}  // namespace
}  // namespace gpufilter::test
