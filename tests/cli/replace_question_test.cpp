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
    EXPECT_EQ(no.screen.rfind("replace b.png? [y/N] ", 0), 0U) << no.screen;
    EXPECT_NE(no.screen.find("gpufilter: b.png: already exists, kept"), std::string::npos)
        << no.screen;
    EXPECT_EQ(no.exit_code, 2);
    EXPECT_FALSE(is_replaced());
  }
}

TEST_F(ReplaceQuestion, YesReplacesIt) {
  const Answered yes = answer("y\n");
  EXPECT_EQ(yes.exit_code, 0);
  EXPECT_NE(yes.screen.find("a.png -> b.png (replaced)"), std::string::npos) << yes.screen;
  EXPECT_TRUE(is_replaced());
}

TEST_F(ReplaceQuestion, AnOptionAnswersIt) {
  EXPECT_EQ(answer("", {"--on-exists", "skip"}).screen.find("[y/N]"), std::string::npos);
  EXPECT_FALSE(is_replaced());
  EXPECT_EQ(answer("", {"--dry-run"}).screen.find("[y/N]"), std::string::npos);
  EXPECT_FALSE(is_replaced());
  EXPECT_EQ(answer("", {"--on-exists", "overwrite"}).screen.find("[y/N]"), std::string::npos);
  EXPECT_TRUE(is_replaced());
}

TEST_F(ReplaceQuestion, WithoutATerminalItIsReplacedAndSaid) {
  const ProcessResult result =
      filter({"a.png", "b.png", "--sharpen", "0.5", "--device", "cpu"}, {.folder = folder_.path()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err.rfind("a.png -> b.png (replaced): ", 0), 0U) << result.err;
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
