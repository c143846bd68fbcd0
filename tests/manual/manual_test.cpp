// Manual pages, completions and the header of stages: what the help lists, in each of their forms.
#include <regex>

#include "base/printable.hpp"
#include "manual/pages.hpp"
#include "manual/stage_sources.hpp"
#include "support/process.hpp"
#include "support/pseudo_terminal.hpp"

namespace gpufilter::test {
namespace {

// The first words of the list below `heading` in a page of the help.
std::vector<std::string> names_in_list(const std::vector<std::string>& page,
                                       const std::string& heading) {
  std::istringstream stream(run_gpufilter(page).out);
  std::vector<std::string> names;
  bool is_inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (is_inside && !line.starts_with("  ")) break;
    if (is_inside) names.push_back(line.substr(2, line.find(' ', 2) - 2));
    is_inside = is_inside || line.starts_with(heading);
  }
  EXPECT_GE(names.size(), 8U) << heading;
  return names;
}

// Subcommands with their variants; {} is the main job.
std::vector<std::vector<std::string>> command_lines() {
  std::vector<std::vector<std::string>> list{{}};
  for (const std::string& name : names_in_list({"--help-all"}, "Subcommands:"))
    list.push_back({name});
  for (const std::string& name : names_in_list({"bench", "--help"}, "Benchmarks ("))
    list.push_back({"bench", name});
  return list;
}

// "--quality" and "-q", from the beginnings of the lines of its help.
std::set<std::string> options_in_help(std::vector<std::string> command) {
  if (command == std::vector<std::string>{"help"})
    command.emplace_back("help");
  else
    command.emplace_back(command.empty() ? "--help-all" : "--help");
  const ProcessResult result = run_gpufilter(command, {.environment = {{"COLUMNS", "100"}}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::set<std::string> options;
  std::istringstream stream(result.out);
  const std::regex item("^  (-[a-zA-Z])?(?:, )?(--[a-z][a-z-]*)?.*");
  for (std::string line; std::getline(stream, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, item)) continue;
    for (const std::size_t part : {1U, 2U}) {
      if (parts[part].matched) options.insert(parts[part]);
    }
  }
  return options;
}

// Manual pages: everything that the help lists, in the language of man(7).

using manual::declared_commands;
using manual::manual_pages;
using manual::Page;

std::string page_named(const std::string& name) {
  for (const Page& page : manual_pages(declared_commands(), "2026-01-31")) {
    if (page.file == name) return page.text;
  }
  ADD_FAILURE() << "no page " << name;
  return "";
}

std::string page_of(const std::vector<std::string>& command) {
  return page_named(command.empty() ? "gpufilter.1" : "gpufilter-" + command.front() + ".1");
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ManualPages, AreOnePerSubcommandWithEveryOptionOfTheHelp) {
  std::set<std::string> expected;
  for (const auto& command : command_lines())
    expected.insert(command.empty() ? "gpufilter.1" : "gpufilter-" + command.front() + ".1");
  std::set<std::string> files;
  for (const Page& page : manual_pages(declared_commands(), "2026-01-31"))
    EXPECT_TRUE(files.insert(page.file).second) << page.file;
  EXPECT_EQ(files, expected);
  for (const auto& command : command_lines()) {
    const std::set<std::string> options = options_in_help(command);
    EXPECT_TRUE(options.contains("--help"));
    for (const std::string& option : options)
      EXPECT_TRUE(has(page_of(command), manual::bold(option))) << option;
  }
}

TEST(ManualPages, DescribeStagesAndValuesAndNoMachine) {
  const std::string page = page_of({});
  EXPECT_TRUE(has(page, ".TH GPUFILTER 1 2026-01-31 \"gpufilter "));
  EXPECT_TRUE(
      has(page, ".SH NAME\ngpufilter \\- filters pictures, one at a time or a whole folder\n"));
  EXPECT_TRUE(has(page,
                  "\\fB\\-\\-border\\fR \\fIreplicate|mirror|wrap|constant [replicate]\\fR\n"
                  "What lies outside the picture. With \\-\\-blur"));
  EXPECT_TRUE(has(page, "\n.br\nreplicate: the nearest pixel, aaa|abcd|ddd\n.br\nmirror: "));
  EXPECT_TRUE(has(page, "\\fB\\-\\-verify\\fR\\fI[=N]\\fR\n"));
  EXPECT_TRUE(has(page, ".SS \\-\\-levels auto|auto=PERCENT|LOW,HIGH\n"));
  EXPECT_TRUE(has(page, ".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone\n"));
  EXPECT_TRUE(has(page, ".EX\n# blur once\ngpufilter in.png out.png \\-\\-blur auto\n"));
  EXPECT_TRUE(has(page_of({}), "\\fB\\-\\-threads\\fR \\fIN [all cores]\\fR\n"));
  EXPECT_TRUE(has(page_of({}), "\\fB\\-\\-jobs\\fR \\fIN [a job for each core]\\fR\n"));
  EXPECT_TRUE(has(page_of({"bench"}), "\\fB\\-\\-threads\\fR \\fIN [all cores]\\fR\n"));
}

TEST(ManualPages, AreCleanRoffWithSections) {
  const std::string page = page_of({"bench"});
  EXPECT_TRUE(has(page, ".SH GPUFILTER BENCH COPY\nMeasures memory copies: "));
  EXPECT_TRUE(has(page, "\\fB\\-\\-bytes\\fR \\fIBYTES,... [GPU: 256M, else 64M]\\fR\n"));
  const std::filesystem::path folder = std::filesystem::path(GPUFILTER_MANUAL) / "man1";
  std::size_t pages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const ProcessResult result = run_process(
        {"/bin/sh", "-c", "groff -man -Tutf8 -ww -z \"$0\" || echo failed", entry.path().string()});
    if (has(result.err, "groff: not found")) GTEST_SKIP() << "groff is not installed";
    EXPECT_EQ(result.out + result.err, "") << entry.path();
    ++pages;
  }
  EXPECT_EQ(pages, manual_pages(declared_commands(), "2026-01-31").size());
}

TEST(Roff, TextIsShownAsItIsAndHelpTextsBecomeSections) {
  EXPECT_EQ(manual::escaped(R"(a-b \n 'c' `d ^ ~)"), R"(a\-b \en \(aqc\(aq \(gad \(ha \(ti)");
  EXPECT_EQ(manual::text_line(".SH"), "\\&.SH");
  EXPECT_EQ(manual::text_line("'br"), "\\&\\(aqbr");
  EXPECT_EQ(
      manual::blocks("Some words\nof prose.\n\nExit codes:\n  0  done\n  1  a failure,\n"
                     "     explained\nMore.\n\nExamples:\n  gpufilter a b\n  gpufilter c  d\n"),
      ".PP\nSome words of prose.\n"
      ".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone\n.TP\n\\fB1\\fR\na failure, explained\n"
      ".PP\nMore.\n"
      ".SH EXAMPLES\n.EX\ngpufilter a b\n# d\ngpufilter c\n.EE\n");
  EXPECT_EQ(manual::tidied(".SH A\n.PP\nb\n.PP\nc\n"), ".SH A\nb\n.PP\nc\n");
}

// Completions, asked in the shells that they are for.

using Words = std::vector<std::string>;
using Answers = std::set<std::string>;

Answers lines_of(const std::string& text) {
  Answers lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.insert(line);
  return lines;
}

Answers operator+(Answers a, const Answers& b) {
  a.insert(b.begin(), b.end());
  return a;
}

bool contains(const Answers& all, const Answers& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

struct Completion : testing::Test {
  Completion() {
    for (const char* name : {"one.png", "TWO.JPG", "a picture.tiff", "notes.txt", "net.json"})
      std::ofstream(folder_ / name);
    std::filesystem::create_directories(folder_ / "my folder");
    std::ofstream(folder_ / "my folder/in side.png");
    // The program that the shells find.
    std::filesystem::create_symlink(GPUFILTER_PROGRAM, bin_ / "gpufilter");
  }

  // What `shell` prints for the program, which finds gpufilter in PATH.
  [[nodiscard]] ProcessResult run(const Words& shell, const std::string& program) const {
    Words command{"/bin/sh", "-c", "PATH=\"$0:$PATH\" exec \"$@\"", bin_.path().string()};
    command.insert(command.end(), shell.begin(), shell.end());
    command.push_back(program);
    return run_process(
        command, {.environment = {{"HOME", folder_.path().string()}}, .folder = folder_.path()});
  }

  TemporaryFolder folder_;
  TemporaryFolder bin_;
};

struct BashCompletion : Completion {
  // The answers for a line, `words` as Bash divides it. The cursor is at the end.
  [[nodiscard]] Answers ask(const std::string& line, const Words& words) const {
    std::string array;
    for (const std::string& word : words)
      array += " " + shell_word(word);
    const std::string program =
        "source " + shell_word(GPUFILTER_MANUAL "/bash/gpufilter") +
        "\nCOMP_LINE=" + shell_word(line) + " COMP_POINT=${#COMP_LINE} COMP_WORDS=(" + array +
        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_gpufilter\n"
        "[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' \"${COMPREPLY[@]}\"\n";
    const ProcessResult result = run({"bash", "--norc", "-c"}, program);
    EXPECT_EQ(result.exit_code, 0) << line;
    EXPECT_EQ(result.err, "") << line;
    return lines_of(result.out);
  }
  // Words without '=' and ':'.
  [[nodiscard]] Answers ask(const Words& words) const {
    std::string line;
    for (const std::string& word : words)
      line += (line.empty() ? "" : " ") + word;
    return ask(line, words);
  }

  const Answers folders_{"my folder"};
  const Answers pictures_{"one.png", "TWO.JPG", "a picture.tiff", "my folder"};
};

TEST_F(BashCompletion, HasEveryOptionOfTheHelp) {
  for (Words command : command_lines()) {
    const Answers options = options_in_help(command);
    command.insert(command.begin(), "gpufilter");
    command.emplace_back("-");
    Answers answers = ask(command);
    // Options are topics of the help.
    if (command[1] == "help") {
      const Answers topics = options_in_help({});
      std::erase_if(answers, [&](const std::string& word) {
        return topics.contains(word) && !options.contains(word);
      });
    }
    EXPECT_EQ(answers, options) << command[1];
  }
}

TEST_F(BashCompletion, StagesPresetsAndDevices) {
  EXPECT_EQ(ask({"gpufilter", "--blu"}), Answers{"--blur"});
  EXPECT_EQ(ask({"gpufilter", "in.png", "out.png", "--blur", ""}),
            (Answers{"naive", "tiled", "auto"}));
  EXPECT_EQ(ask({"gpufilter", "in.png", "out.png", "--border", "m"}), Answers{"mirror"});
  EXPECT_EQ(ask({"gpufilter", "in.png", "out.png", "--tonemap", ""}),
            (Answers{"reinhard", "filmic"}));
  EXPECT_EQ(ask({"gpufilter", "in.png", "out.png", "--levels", "a"}), (Answers{"auto", "auto="}));
  const Answers all = ask({"gpufilter", "--color", ""});
  EXPECT_TRUE(contains(all, {"sepia", "saturate=", "hue=", "rec601", "tritanopia", "notes.txt"}));
  EXPECT_FALSE(all.contains("--blur"));
  EXPECT_EQ(ask({"gpufilter", "--color", "se"}), Answers{"sepia"});
  EXPECT_EQ(ask({"gpufilter", "--mlp", ""}), folders_ + Answers{"net.json"});
  EXPECT_EQ(ask({"gpufilter", "--overlay", ""}), pictures_);
  EXPECT_TRUE(
      contains(ask({"gpufilter", "--device", ""}), {"auto", "cpu", "gpu", "opencl", "all"}));
  EXPECT_EQ(ask({"gpufilter", "stats", "--device", "a"}), Answers{"auto"});
  // As Bash divides it, which replaces only what follows '='.
  EXPECT_EQ(ask("gpufilter --device=g", {"gpufilter", "--device", "=", "g"}), Answers{"gpu"});
  EXPECT_EQ(ask("gpufilter --device=", {"gpufilter", "--device", "="}).count("--device=cpu"), 0U);
}

TEST_F(BashCompletion, RecipesAndValuesWithEqualSigns) {
  std::ofstream(folder_ / "web.recipe");
  std::ofstream(folder_ / "my folder/look.recipe");
  // As Bash divides it, which replaces only what follows '@'.
  EXPECT_EQ(ask("gpufilter in.png @", {"gpufilter", "in.png", "@"}),
            (Answers{"my folder", "web.recipe"}));
  EXPECT_EQ(ask("gpufilter @w", {"gpufilter", "@", "w"}), Answers{"web.recipe"});
  EXPECT_EQ(ask("gpufilter @my\\ folder/", {"gpufilter", "@", "my\\ folder/"}),
            Answers{"my folder/look.recipe"});
  EXPECT_EQ(ask("gpufilter --color saturate=", {"gpufilter", "--color", "saturate", "="}),
            Answers{""});
  std::ofstream(folder_ / "a=b.png");
  EXPECT_EQ(ask("gpufilter stats a=", {"gpufilter", "stats", "a", "="}), Answers{"b.png"});
  EXPECT_EQ(ask("gpufilter --color=sepia in.png --blu",
                {"gpufilter", "--color", "=", "sepia", "in.png", "--blu"}),
            Answers{"--blur"});
}

TEST_F(BashCompletion, ListsDevicesThatAreFound) {
  std::filesystem::remove(bin_ / "gpufilter");
  std::ofstream(bin_ / "gpufilter") << "#!/bin/sh\n[ \"$1\" = devices ] || exit 2\n"
                                       "echo '0  A GPU (gpu)'\necho '    platform  X'\n"
                                       "echo '13  pthread (cpu)'\n";
  std::filesystem::permissions(bin_ / "gpufilter", std::filesystem::perms::owner_all);
  EXPECT_EQ(ask({"gpufilter", "verify", "--device", ""}),
            (Answers{"all", "cpu", "gpu", "opencl", "0", "13"}));
}

TEST_F(BashCompletion, SubcommandsAndFiles) {
  EXPECT_EQ(ask({"gpufilter", "st"}), Answers{"stats"});
  const Words names = names_in_list({"--help-all"}, "Subcommands:");
  EXPECT_EQ(ask({"gpufilter", ""}), pictures_ + Answers(names.begin(), names.end()));
  EXPECT_EQ(ask({"gpufilter", "one.png", "st"}), Answers{});
  EXPECT_EQ(ask({"gpufilter", "bench", "co"}), (Answers{"color", "copy"}));
  EXPECT_EQ(ask({"gpufilter", "bench", "copy", "--by"}), Answers{"--bytes"});
  EXPECT_EQ(ask({"gpufilter", "verify", "blur", "cr"}), Answers{"crop"});
  EXPECT_EQ(ask({"gpufilter", "help", "clu"}), Answers{"clusters"});
  EXPECT_EQ(ask({"gpufilter", "help", "--qual"}), Answers{"--quality"});
  EXPECT_EQ(ask({"gpufilter", "stats", ""}), pictures_);
  EXPECT_EQ(ask({"gpufilter", "compare", "one.png", "T"}), Answers{"TWO.JPG"});
  EXPECT_EQ(ask({"gpufilter", "one.png", "--blur", "auto", "o"}), Answers{"one.png"});
  EXPECT_EQ(ask({"gpufilter", "gather", ""}), folders_);
  EXPECT_EQ(ask({"gpufilter", "stats", "one.png", "--plot", ""}), folders_);
  EXPECT_TRUE(ask({"gpufilter", "--list", ""}).contains("notes.txt"));
  EXPECT_EQ(ask({"gpufilter", "stats", "a"}), Answers{"a picture.tiff"});
  EXPECT_EQ(ask({"gpufilter", "stats", "a\\ p"}), Answers{"a picture.tiff"});
  EXPECT_EQ(ask({"gpufilter", "stats", "\"my fo"}), Answers{"my folder"});
  EXPECT_EQ(ask({"gpufilter", "stats", "my\\ folder/"}), Answers{"my folder/in side.png"});
  EXPECT_EQ(ask({"gpufilter", "stats", "~/a"}), Answers{"~/a picture.tiff"});
}

TEST_F(Completion, Fish) {
  std::ofstream(folder_ / "web.recipe");
  const ProcessResult result = run(
      {"/bin/sh", "-c", "command -v fish >/dev/null || exit 77\nexec fish --no-config -c \"$0\""},
      "source '" GPUFILTER_MANUAL
      "/fish/gpufilter.fish'\n"
      "for line in 'gpufilter --blu' 'gpufilter --color sep' 'gpufilter st' "
      "'gpufilter stats ' 'gpufilter a b --mlp ' 'gpufilter bench co' 'gpufilter gather ' "
      "'gpufilter a b @'\n"
      "complete -C $line | string replace -r '\\t.*' ''\nend");
  if (result.exit_code == 77) GTEST_SKIP() << "fish is not installed";
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "--blur\nsepia\nstats\na picture.tiff\nmy folder/\none.png\nTWO.JPG\nmy folder/\n"
            "net.json\ncolor\ncopy\nmy folder/\n@my folder/\n@web.recipe\n");
}

TEST_F(Completion, FishHasEveryOptionOfTheHelp) {
  for (const Words& command : command_lines()) {
    std::string line = "gpufilter";
    for (const std::string& word : command)
      line += " " + word;
    const ProcessResult result = run(
        {"/bin/sh", "-c", "command -v fish >/dev/null || exit 77\nexec fish --no-config -c \"$0\""},
        "source '" GPUFILTER_MANUAL "/fish/gpufilter.fish'\ncomplete -C '" + line +
            " -' | string replace -r '\\t.*' ''");
    if (result.exit_code == 77) GTEST_SKIP() << "fish is not installed";
    for (const std::string& option : options_in_help(command))
      EXPECT_TRUE(lines_of(result.out).contains(option)) << line << " " << option;
  }
}

// zsh completes only in its line editor.
TEST_F(Completion, Zsh) {
  if (run({"/bin/sh", "-c"}, "command -v zsh").exit_code != 0)
    GTEST_SKIP() << "zsh is not installed";
  std::ofstream(folder_ / "web.recipe");
  PseudoTerminal terminal({"/bin/sh", "-c", "PATH=\"$0:$PATH\" exec zsh -f -i", bin_.path()},
                          folder_.path(), 200);
  std::string seen;
  const auto type = [&](const std::string& keys, const std::string& expected) {
    for (const char key : keys)
      terminal.press(key);
    seen.clear();
    for (std::string text = " "; !text.empty() && seen.find(expected) == std::string::npos;
         seen += text)
      text = terminal.read();
    EXPECT_TRUE(test::contains(seen, expected)) << keys << ": " << seen;
  };
  type("unsetopt zle_bracketed_paste prompt_cr prompt_sp; PS1='% '; fpath=(" GPUFILTER_MANUAL
       "/zsh $fpath); autoload -U compinit; compinit -u -D; print -r BEGIN'S'\r",
       "BEGINS");
  constexpr const char* clear = "\x15";  // Ctrl-U
  type(std::string(clear) + "gpufilter in.png out.png --border mi\t", "--border mirror");
  type(std::string(clear) + "gpufilter ver\t", "gpufilter verify");
  type(std::string(clear) + "gpufilter bench matm\t", "bench matmul");
  type(std::string(clear) + "gpufilter bench copy --tri\t", "copy --trials");
  type(std::string(clear) + "gpufilter stats a\\ p\t", "stats a\\ picture.tiff");
  type(std::string(clear) + "gpufilter verify conv\t", "verify convolve");
  type(std::string(clear) + "gpufilter a b --color sep\t", "--color sepia");
  type(std::string(clear) + "gpufilter a b --color satu\t", "--color saturate=");
  type(std::string(clear) + "gpufilter a b --mlp ne\t", "--mlp net.json");
  type(std::string(clear) + "gpufilter a b @w\t", "@web.recipe");
  type(std::string(clear) + "exit\r", "exit");
}

// include/gpufilter/stages.hpp is what the stages declare.

TEST(StageHeader, IsUpToDate) {
  EXPECT_EQ(read_file(GPUFILTER_SOURCE "/include/gpufilter/stages.hpp"), manual::stage_header())
      << "copy manual/stages.hpp from the build folder to include/gpufilter";
}

}  // namespace
}  // namespace gpufilter::test
