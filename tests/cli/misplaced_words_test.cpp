// A word that is meant as something else never becomes an input or an output folder.
#include "cli/filter_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// In a folder with a.png, o.png, "photos" with a picture in it, and a link that leads nowhere.
class MisplacedWords : public FilterTest {
 protected:
  void SetUp() override {
    fs::create_directory(folder_ / "photos");
    for (const char* name : {"a.png", "o.png", "photos/p.png"})
      static_cast<void>(stored(random_image(size_, format_, 1), name));
    fs::create_symlink("nowhere", folder_ / "broken.png");
  }

  // The whole message; nothing changes.
  void expect_answer(const Words& words, const std::string& answer) const {
    expect_failure(2, words, {}, {.folder = folder_.path()});
    const ProcessResult result = filter(words, {.folder = folder_.path()});
    EXPECT_EQ(result.err, "gpufilter: " + answer + "\n") << ::testing::PrintToString(words);
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
  // That it happens to exist does not help.
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
                "auto: no such folder; did you mean --blur auto or --levels auto?");
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
  EXPECT_EQ(here({"photos", "2024", "-q"}).exit_code, 0);
  EXPECT_EQ(here({"photos", "sepia", "--color", "sepia", "-q"}).exit_code, 0);
  EXPECT_EQ(here({"a.png", "o.png", "-q", "85/"}).exit_code, 0);
  EXPECT_EQ(names_in(folder_ / "85"), (Words{".gpufilter-journal", "a.png", "o.png"}));
  EXPECT_EQ(here({"a.png", "o.png", "--resume", "--quiet", "--", "85"}).exit_code, 0);
  EXPECT_EQ(here({"photos", "out", "--match", "p*.png", "-q"}).exit_code, 0);
  EXPECT_EQ(here({"--match", "*.png", "photos", "new", "-q"}).exit_code, 0);
  // A link that leads nowhere is a path; the other pictures are done.
  EXPECT_EQ(here({"a.png", "broken.png", "results/", "-q"}).exit_code, 1);
  EXPECT_TRUE(fs::exists(folder_ / "results/a.png"));
}

}  // namespace
}  // namespace gpufilter::test
