// Manual pages: everything that the help lists, in the language of man(7).
#include "manual/pages.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "manual/help_options.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

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

TEST(ManualPages, AreOnePerSubcommand) {
  std::set<std::string> expected;
  for (const auto& command : command_lines())
    expected.insert(command.empty() ? "gpufilter.1" : "gpufilter-" + command.front() + ".1");
  std::set<std::string> files;
  for (const Page& page : manual_pages(declared_commands(), "2026-01-31"))
    EXPECT_TRUE(files.insert(page.file).second) << page.file;
  EXPECT_EQ(files, expected);
}

TEST(ManualPages, HaveEveryOptionOfTheHelp) {
  for (const auto& command : command_lines()) {
    const std::set<std::string> options = options_in_help(command);
    EXPECT_TRUE(options.contains("--help"));
    for (const std::string& option : options)
      EXPECT_TRUE(has(page_of(command), manual::bold(option))) << option;
  }
}

TEST(ManualPages, DescribeStagesAndValues) {
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
}

TEST(ManualPages, DoNotDependOnTheMachine) {
  EXPECT_TRUE(has(page_of({}), "\\fB\\-\\-threads\\fR \\fIN [all cores]\\fR\n"));
  EXPECT_TRUE(has(page_of({}), "\\fB\\-\\-jobs\\fR \\fIN [a job for each core]\\fR\n"));
  EXPECT_TRUE(has(page_of({"bench"}), "\\fB\\-\\-threads\\fR \\fIN [all cores]\\fR\n"));
}

TEST(ManualPages, VariantsHaveSections) {
  const std::string page = page_of({"bench"});
  EXPECT_TRUE(has(page, ".SH GPUFILTER BENCH COPY\nMeasures memory copies: "));
  EXPECT_TRUE(has(page, "\\fB\\-\\-bytes\\fR \\fIBYTES,... [GPU: 256M, else 64M]\\fR\n"));
}

TEST(ManualPages, AreCleanRoff) {
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

TEST(Roff, TextIsShownAsItIs) {
  EXPECT_EQ(manual::escaped(R"(a-b \n 'c' `d ^ ~)"), R"(a\-b \en \(aqc\(aq \(gad \(ha \(ti)");
  EXPECT_EQ(manual::text_line(".SH"), "\\&.SH");
  EXPECT_EQ(manual::text_line("'br"), "\\&\\(aqbr");
}

TEST(Roff, HelpTextsBecomeSections) {
  EXPECT_EQ(
      manual::blocks("Some words\nof prose.\n\nExit codes:\n  0  done\n  1  a failure,\n"
                     "     explained\nMore.\n\nExamples:\n  gpufilter a b\n  gpufilter c  d\n"),
      ".PP\nSome words of prose.\n"
      ".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone\n.TP\n\\fB1\\fR\na failure, explained\n"
      ".PP\nMore.\n"
      ".SH EXAMPLES\n.EX\ngpufilter a b\n# d\ngpufilter c\n.EE\n");
  EXPECT_EQ(manual::tidied(".SH A\n.PP\nb\n.PP\nc\n"), ".SH A\nb\n.PP\nc\n");
}

}  // namespace
}  // namespace gpufilter::test
