// How commands are found in pages, and what the pages of stages say.
#include "support/documents.hpp"

#include "stage/options/catalogue.hpp"

namespace gpufilter::test {
namespace {

// "line:text=exit code" of every command, "|" between blocks.
std::string commands_of(const std::string& page) {
  std::string all;
  for (const CommandBlock& block : command_blocks(page)) {
    if (!all.empty()) all += "|";
    for (const DocumentedCommand& command : block) {
      all += std::to_string(command.line) + ":" + command.text + "=" +
             std::to_string(command.exit_code) + ";";
    }
  }
  return all;
}

TEST(Documents, IndentedAndFencedBlocksHoldCommands) {
  EXPECT_EQ(commands_of("Text\n\n    gpufilter a b\n    mkdir c\n\nText\n"),
            "3:gpufilter a b=0;4:mkdir c=0;");
  EXPECT_EQ(commands_of("```sh\nanything at all\n```\n"), "2:anything at all=0;");
  EXPECT_EQ(commands_of("```\ngpufilter a b\n```\n\n    GPUFILTER_DEVICE=cpu gpufilter c d\n"),
            "2:gpufilter a b=0;|5:GPUFILTER_DEVICE=cpu gpufilter c d=0;");
  EXPECT_EQ(commands_of("\n    gpufilter a b \\\n        --blur auto\n\n    gpufilter c d"),
            "2:gpufilter a b     --blur auto=0;5:gpufilter c d=0;");
  EXPECT_EQ(commands_of("- Text\n\n      $ gpufilter a b\n      c\n\n- Text\n"),
            "3:gpufilter a b=0;");
  EXPECT_EQ(commands_of("```cpp\ngpufilter a b\n```\n"), "");
  EXPECT_EQ(commands_of("\n    file -> band -> file\n"), "");
  EXPECT_EQ(commands_of("\n    gpufilter::PictureFilter filter;\n"), "");
  EXPECT_EQ(commands_of("Text that goes on\n    gpufilter a b\n"), "");
  EXPECT_EQ(commands_of("\n    # first\n    gpufilter a b  # exit code 3, no GPU\n"),
            "3:gpufilter a b=3;");
  EXPECT_EQ(commands_of("\n    gpufilter a b --background '#fff'\n"),
            "2:gpufilter a b --background '#fff'=0;");
}

TEST(Documents, CommentsSayWhatNeedsOpenCl) {
  const auto blocks =
      command_blocks("\n    gpufilter a b  # exit code 1; needs OpenCL\n    gpufilter c d\n");
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_TRUE(blocks[0][0].needs_opencl);
  EXPECT_EQ(blocks[0][0].exit_code, 1);
  EXPECT_FALSE(blocks[0][1].needs_opencl);
}

TEST(Documents, ConsoleBlocksShowWhatIsPrinted) {
  const auto blocks = command_blocks("\n    $ gpufilter a b\n    one\n\n    two\n    $ ls\n");
  ASSERT_EQ(blocks.size(), 1U);
  ASSERT_EQ(blocks[0].size(), 2U);
  EXPECT_EQ(blocks[0][0].text, "gpufilter a b");
  EXPECT_EQ(blocks[0][0].output, "one\n\ntwo\n");
  EXPECT_EQ(blocks[0][1].text, "ls");
  EXPECT_EQ(blocks[0][1].output, std::nullopt);
}

TEST(Documents, BlocksWordsListsAndLinksAreFound) {
  EXPECT_EQ(fenced_blocks("```json\n{}\n```\nText\n```\n[]\n```\n", "json"),
            std::vector<std::string>{"{}\n"});
  EXPECT_EQ(words_in("# One two\n\n| three | `four` |\n|---|---|\n\n    gpufilter a "
                     "b\n\n```sh\nls\n```\n- five\n"),
            5U);
  using Lines = std::vector<int>;
  EXPECT_EQ(accidental_lists("Text:\n\n1. one\n   goes on\n2. two\n\n- three\n- four\n"), Lines{});
  EXPECT_EQ(accidental_lists("The exit code is\n1. In a folder\n"), Lines{2});
  EXPECT_EQ(accidental_lists("- the exit\n  code is\n  0. With\n"), Lines{3});
  EXPECT_EQ(accidental_lists("- the exit\n  code is\n  1. With\n"), Lines{3});
  EXPECT_EQ(accidental_lists("Numbers from 0\n- or more\n"), Lines{2});
  EXPECT_EQ(accidental_lists("Text\n\n17. items\n"), Lines{3});
  EXPECT_EQ(accidental_lists("Text\n\n    1. code\n    7. code\n"), Lines{});
  EXPECT_EQ(linked_files("[a](b.md) ![c](d/e.jpg) [f](g.md#part) [h](https://i.org/j) [k](#part)"),
            (std::vector<std::string>{"b.md", "d/e.jpg", "g.md"}));
}

TEST(Documents, ShownOutputMayLeaveLinesOutAndHaveOtherTimes) {
  EXPECT_TRUE(matches_shown("a (b)\n", "a (b)\n"));
  EXPECT_FALSE(matches_shown("a (b)\n", "a (b)\nc\n"));
  EXPECT_TRUE(matches_shown("a\n...\nd\n", "a\nb\nc\nd\n"));
  EXPECT_FALSE(matches_shown("a\n...\nd\n", "a\nb\nc\n"));
  EXPECT_TRUE(matches_shown("blur   1.5 ms, avx512\n", "blur 12 ms, baseline\n"));
  EXPECT_FALSE(matches_shown("blur 1.5 ms\n", "color 1.5 ms\n"));
  EXPECT_FALSE(matches_shown("3 pixels differ\n", "4 pixels differ\n"));
}

// The words of a text, without Markdown's backticks and the places of line ends.
std::string plain_words(std::string text) {
  std::erase(text, '`');
  std::istringstream words(text);
  std::string plain = " ";
  for (std::string word; words >> word;)
    plain += word + " ";
  return plain;
}

// The page whose first line names the option.
std::string page_of(const std::string& option) {
  for (const std::string& page : pages()) {
    if (!page.starts_with("docs/stages/")) continue;
    const std::string text = page_text(page);
    if (text.substr(0, text.find('\n')).find("`" + option + "`") != std::string::npos) return page;
  }
  return "";
}

// What the page says from a heading up to the next one.
std::string section_of(const std::string& text, const std::string& heading) {
  const std::size_t begin = text.find("\n## " + heading + "\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

void expect_declared(const std::string& text, const std::string& heading,
                     const std::string& declared) {
  EXPECT_NE(plain_words(section_of(text, heading)).find(plain_words(declared)), std::string::npos)
      << "section " << heading << " lacks: " << declared;
}

TEST(StagePages, SayWhatTheStagesDeclare) {
  for (const StageKind& kind : stage_catalogue()) {
    const std::string page = page_of(kind.option);
    SCOPED_TRACE(kind.option + ": " + page);
    ASSERT_NE(page, "") << "no page of docs/stages has this option in its first line";
    const std::string text = page_text(page);
    expect_declared(text, "Formula", kind.formula);
    expect_declared(text, "Edges", kind.edges);
    expect_declared(text, "Alpha", kind.alpha);
  }
}

}  // namespace
}  // namespace gpufilter::test
