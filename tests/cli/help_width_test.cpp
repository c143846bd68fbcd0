// Help pages on narrow and wide terminals.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/format.hpp"
#include "cli/filter_fixture.hpp"
#include "support/pseudo_terminal.hpp"

namespace gpufilter::test {
namespace {

using Words = std::vector<std::string>;

const std::vector<Words>& all_pages() {
  static const std::vector<Words> pages{
      {"--help"},          {"--help-all"},     {"help", "help"},    {"help", "blur"},
      {"help", "color"},   {"help", "mlp"},    {"help", "levels"},  {"help", "tonemap"},
      {"help", "compare"}, {"help", "stats"},  {"help", "devices"}, {"help", "tune"},
      {"help", "verify"},  {"help", "gather"}, {"help", "bench"},   {"help", "bench", "matmul"}};
  return pages;
}

// Without the signs that a break in a command adds.
std::multiset<std::string> words_of(const std::string& text) {
  std::multiset<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    if (word != "\\" && word != "#") words.insert(word);
  }
  return words;
}

// The commands below "Examples:" as a shell reads them: continued lines joined, remarks removed,
// blanks between words alike.
Words examples_of(const std::string& page) {
  Words commands;
  std::istringstream rest(page.substr(std::min(page.find("\nExamples:\n"), page.size())));
  bool is_continued = false;
  for (std::string line; std::getline(rest, line);) {
    if (!is_continued && !line.starts_with("  gpufilter ")) continue;
    std::string command = line.substr(line.find_first_not_of(' '));
    const bool goes_on = command.ends_with(" \\");
    if (goes_on) command.resize(command.size() - 2);
    command = command.substr(0, command.find("  "));
    is_continued ? commands.back() += " " + command : commands.emplace_back(command);
    is_continued = goes_on;
  }
  return commands;
}

class HelpWidth : public FilterTest {
 protected:
  static std::string page(const Words& command, const std::string& columns) {
    return ended(0, filter(command, {.environment = {{"COLUMNS", columns}}})).out;
  }

  static void expect_width(const std::string& text, std::size_t columns) {
    std::size_t widest = 0;
    for (const std::string& line : lines_of(text)) {
      EXPECT_LE(line.size(), columns) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
      widest = std::max(widest, line.size());
    }
    EXPECT_GT(widest, columns * 3 / 4) << text;
  }
};

TEST_F(HelpWidth, IsThatOfTheTerminal) {
  for (const auto& [columns, width] :
       {std::pair{40, 40U}, std::pair{80, 80U}, std::pair{120, 100U}}) {
    SCOPED_TRACE(columns);
    for (const Words& command : {Words{"--help"}, {"--help-all"}, {"help", "tonemap"}}) {
      Words words{"/usr/bin/env", "-u", "COLUMNS", GPUFILTER_PROGRAM};
      words.insert(words.end(), command.begin(), command.end());
      PseudoTerminal terminal(words, folder_.path(), columns);
      std::string text = terminal.read_to_end();
      EXPECT_EQ(terminal.wait(), 0);
      std::erase(text, '\r');
      expect_width(text, width);
      EXPECT_EQ(text, page(command, std::to_string(columns)));
    }
  }
}

TEST_F(HelpWidth, NeverBreaksAWordOrACommand) {
  for (const Words& command : all_pages()) {
    const std::string usual = page(command, "80");
    for (const std::size_t columns : {40U, 53U, 67U, 100U}) {
      SCOPED_TRACE(formatted("{} in {} columns", fmt::join(command, " "), columns));
      const std::string text = page(command, std::to_string(columns));
      for (const std::string& line : lines_of(text)) {
        EXPECT_LE(line.size(), columns) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
      }
      EXPECT_EQ(words_of(text), words_of(usual));
      EXPECT_EQ(examples_of(text), examples_of(usual));
    }
  }
  EXPECT_EQ(examples_of(page({"--help-all"}, "40")).size(), 10U);
}

TEST_F(HelpWidth, IsLimitedAndEightyWithoutATerminal) {
  EXPECT_EQ(page({"--help-all"}, "1"), page({"--help-all"}, "40"));
  EXPECT_EQ(page({"--help-all"}, "999"), page({"--help-all"}, "100"));
  for (const char* bad : {"", "0", "-5", "abc", "40x", "99999999999999999999999"})
    EXPECT_EQ(page({"--help-all"}, bad), page({"--help-all"}, "80")) << bad;
}

// On a wide page the texts of lists stay beside their heads, on a narrow one they are below.
TEST_F(HelpWidth, NarrowListsHaveTheirTextsBelow) {
  EXPECT_TRUE(contains(page({"help", "compare"}, "40"),
                       "  --tolerance N [0]\n"
                       "      Allow samples to differ by up to N\n"
                       "      steps of the pictures' own depth.\n"));
  EXPECT_TRUE(contains(page({"help", "compare"}, "100"),
                       "  --tolerance N [0]   Allow samples to differ by up to N steps of the "
                       "pictures' own depth.\n"));
  EXPECT_TRUE(contains(page({"--help-all"}, "40"),
                       "  # blur once\n"
                       "  gpufilter in.png out.png --blur auto\n"));
  EXPECT_TRUE(contains(page({"--help"}, "40"),
                       "  gpufilter photos/ web/ \\\n"
                       "      --resize 1600x1600 --sharpen 0.5 \\\n"
                       "      --to webp --recursive\n"));
  EXPECT_TRUE(contains(page({"help", "blur"}, "40"),
                       "  gpufilter in.png out.png --blur auto \\\n"
                       "      --blur auto\n"));
}

}  // namespace
}  // namespace gpufilter::test
