// One picture that would replace an existing file is asked for, if there is somebody to answer.
#include "cli/filter_fixture.hpp"
#include "support/pseudo_terminal.hpp"

namespace gpufilter::test {
namespace {

class ReplaceQuestion : public FilterTest {
 protected:
  void SetUp() override {
    before_ = read_file(stored(random_image(size_, format_, 1), "b.png"));
    static_cast<void>(stored(random_image(size_, format_, 2), "a.png"));
  }

  // What a user sees who answers with these keys, and the exit code.
  struct Answered {
    std::string screen;
    int exit_code;
  };
  [[nodiscard]] Answered answer(const std::string& keys,
                                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command{"/usr/bin/env",
                                     "GPUFILTER_ON_EXISTS=",
                                     GPUFILTER_PROGRAM,
                                     "a.png",
                                     "b.png",
                                     "--blur",
                                     "auto",
                                     "--device",
                                     "cpu"};
    command.insert(command.end(), more.begin(), more.end());
    PseudoTerminal terminal(command, folder_.path(), 80);
    std::string screen = terminal.read();
    for (const char key : keys)
      terminal.press(key);
    screen += terminal.read_to_end();
    return {screen, terminal.wait()};
  }

  [[nodiscard]] bool is_replaced() const { return read_file(folder_ / "b.png") != before_; }

  std::string before_;
};

TEST_F(ReplaceQuestion, NoLeavesTheFile) {
  for (const char* keys : {"\n", "n\n", "\4"}) {
    const Answered no = answer(keys);
    EXPECT_TRUE(no.screen.starts_with("replace b.png? [y/N] ")) << no.screen;
    EXPECT_TRUE(contains(no.screen, "gpufilter: b.png: already exists, kept"));
    EXPECT_EQ(no.exit_code, 2);
    EXPECT_FALSE(is_replaced());
  }
}

TEST_F(ReplaceQuestion, YesReplacesIt) {
  const Answered yes = answer("y\n");
  EXPECT_EQ(yes.exit_code, 0);
  EXPECT_TRUE(contains(yes.screen, "a.png -> b.png (replaced)"));
  EXPECT_TRUE(is_replaced());
}

TEST_F(ReplaceQuestion, AnOptionAnswersIt) {
  EXPECT_FALSE(contains(answer("", {"--on-exists", "skip"}).screen, "[y/N]"));
  EXPECT_FALSE(is_replaced());
  EXPECT_FALSE(contains(answer("", {"--dry-run"}).screen, "[y/N]"));
  EXPECT_FALSE(is_replaced());
  EXPECT_FALSE(contains(answer("", {"--on-exists", "overwrite"}).screen, "[y/N]"));
  EXPECT_TRUE(is_replaced());
}

TEST_F(ReplaceQuestion, WithoutATerminalItIsReplacedAndSaid) {
  const ProcessResult result =
      ended(0, filter({"a.png", "b.png", "--sharpen", "0.5", "--device", "cpu"},
                      {.folder = folder_.path()}));
  EXPECT_TRUE(result.err.starts_with("a.png -> b.png (replaced): ")) << result.err;
  EXPECT_TRUE(is_replaced());
}

TEST_F(ReplaceQuestion, APatternThatTheShellLeavesIsNamed) {
  expect_failure(2, {folder_ / "*.jpg", folder_ / "out/"}, {"*.jpg: no file matches this pattern"});
  expect_failure(2, {folder_ / "*.png", folder_ / "out/"},
                 {"*.png: no file has this name; without quotes the shell replaces the pattern by "
                  "the 2 files that match it"});
}

}  // namespace
}  // namespace gpufilter::test
