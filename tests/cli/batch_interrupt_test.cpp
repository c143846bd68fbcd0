// A run over a folder that the user interrupts.
#include <regex>

#include "cli/batch_fixture.hpp"
#include "support/interrupted_program.hpp"
#include "support/pseudo_terminal.hpp"
#include "support/terminal_screen.hpp"

namespace gpufilter::test {
namespace {

class BatchInterrupt : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    put_many(80, {500, 200});
  }

  // Takes a second or so.
  [[nodiscard]] std::vector<std::string> words(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"in",          "out", "--blur", "auto", "--device", "cpu",
                                 "--png-level", "8",   "--jobs", "1",    "--timing", "off"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // Expects that the run reports its progress and what to do, and that doing so completes it.
  void expect_message(const std::string& line, const std::string& remedy) const {
    std::smatch parts;
    const std::regex pattern("gpufilter: stopped after ([0-9]+) of 80 pictures; the same command " +
                             remedy + " does the rest");
    ASSERT_TRUE(std::regex_match(line, parts, pattern)) << line;
    const Files now = results_in(out_);
    // The last picture may be in place before it is counted.
    EXPECT_LE(std::stoul(parts[1]), now.size());
    EXPECT_GE(std::stoul(parts[1]) + 1, now.size());
    EXPECT_LT(now.size(), 80U);
    const Files expected = undisturbed({"--png-level", "8"});
    for (const auto& [name, bytes] : now)
      EXPECT_TRUE(bytes == expected.at(name)) << name;
    EXPECT_EQ(filter(words({"--resume"}), {.folder = folder_.path()}).exit_code, 0);
    EXPECT_TRUE(results_in(out_) == expected);
  }

  // Once the first picture is done.
  [[nodiscard]] InterruptedProgram end_early(int signal_number,
                                             const std::vector<std::string>& more) const {
    return interrupt_program(words(more), folder_.path(), signal_number,
                             [this] { return finished_pictures(out_) > 0; });
  }
};

TEST_F(BatchInterrupt, ControlCTakesTheBarAwayAndSaysHowFarItCame) {
  std::vector<std::string> command = words({"--progress", "on"});
  command.insert(command.begin(), GPUFILTER_PROGRAM);
  PseudoTerminal terminal(command, folder_.path(), 100);
  TerminalScreen screen(100);
  while (screen.erased().size() < 2)
    screen.write(terminal.read());
  terminal.press('\3');
  screen.write(terminal.read_to_end());
  EXPECT_EQ(terminal.wait(), 130);
  ASSERT_EQ(screen.rows().size(), 1U) << ::testing::PrintToString(screen.rows());
  expect_message(screen.rows()[0], "with --resume");
}

TEST_F(BatchInterrupt, TerminationSaysTheSame) {
  const InterruptedProgram result = end_early(SIGTERM, {});
  EXPECT_EQ(result.exit_code, 143);
  ASSERT_TRUE(result.err.ends_with('\n')) << result.err;
  expect_message(result.err.substr(0, result.err.size() - 1), "with --resume");
}

TEST_F(BatchInterrupt, AResumedRunIsRunAgain) {
  const InterruptedProgram result = end_early(SIGINT, {"--resume"});
  EXPECT_EQ(result.exit_code, 130);
  ASSERT_TRUE(result.err.ends_with('\n')) << result.err;
  expect_message(result.err.substr(0, result.err.size() - 1), "again");
}

TEST_F(BatchInterrupt, QuietRunsEndQuietly) {
  const InterruptedProgram result = end_early(SIGINT, {"-q"});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace gpufilter::test
