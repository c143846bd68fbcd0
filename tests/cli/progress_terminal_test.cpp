// The progress, as terminals of any width show it.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"
#include "support/pseudo_terminal.hpp"
#include "support/terminal_screen.hpp"

namespace gpufilter::test {
namespace {

using Rows = std::vector<std::string>;

class ProgressOnTerminal : public BatchTest {
 protected:
  [[nodiscard]] static Rows words(const Rows& more) {
    Rows command{GPUFILTER_PROGRAM};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  // Eighty pictures take a second or so.
  [[nodiscard]] Rows slow_folder(int pictures = 80) const {
    put_many(pictures, {500, 200});
    return words({"in", "out", "--blur", "auto", "--device", "cpu", "--png-level", "8", "--jobs",
                  "1", "-q", "--progress", "on"});
  }

  static void expect_no_trace(const TerminalScreen& screen) {
    EXPECT_EQ(screen.wraps(), 0) << ::testing::PrintToString(screen.erased());
    EXPECT_EQ(screen.unknown(), "");
    EXPECT_EQ(screen.rows(), Rows{});
  }
};

TEST_F(ProgressOnTerminal, AFolderHasOneLineOfAnyWidth) {
  const Rows command = slow_folder();
  for (const int columns : {40, 60, 80, 200}) {
    std::filesystem::remove_all(out_);
    PseudoTerminal terminal(command, folder_.path(), columns);
    TerminalScreen screen(static_cast<std::size_t>(columns));
    screen.write(terminal.read_to_end());
    EXPECT_EQ(terminal.wait(), 0);
    expect_no_trace(screen);
    ASSERT_GT(screen.erased().size(), 3U);
    const std::string& line = screen.erased().back();
    EXPECT_LT(line.size(), static_cast<std::size_t>(columns));
    expect_parts(line, {"/80 pictures, ", " left"});
    EXPECT_EQ(line.find(" pictures/s") != std::string::npos, columns >= 60) << line;
    if (columns != 80) {
      EXPECT_EQ(line.find(" Mpx/s") != std::string::npos, columns == 200) << line;
    }
  }
}

TEST_F(ProgressOnTerminal, ItFollowsTheWindow) {
  PseudoTerminal terminal(slow_folder(150), folder_.path(), 200);
  TerminalScreen screen(200);
  const auto see_more = [&](std::size_t lines) {
    const std::size_t enough = screen.erased().size() + lines;
    for (std::string text = "-"; !text.empty() && screen.erased().size() < enough;) {
      text = terminal.read();
      screen.write(text);
    }
    return screen.erased().back();
  };
  EXPECT_TRUE(contains(see_more(3), " Mpx/s"));
  for (const std::size_t columns : {40U, 60U, 30U}) {
    terminal.resize(static_cast<int>(columns),
                    [&](const std::string& text) { screen.write(text); });
    screen.resize(columns);
    // The first of them was drawn earlier.
    const std::string line = see_more(2);
    EXPECT_LT(line.size(), columns) << line;
    EXPECT_GT(line.size(), columns / 2) << line;
  }
  screen.write(terminal.read_to_end());
  EXPECT_EQ(terminal.wait(), 0);
  expect_no_trace(screen);
}

TEST_F(ProgressOnTerminal, FailuresStandAboveIt) {
  const Rows command = slow_folder();
  write_file(in_ + "/p120x.png", "text");
  PseudoTerminal terminal(command, folder_.path(), 120);
  TerminalScreen screen(120);
  screen.write(terminal.read_to_end());
  EXPECT_EQ(terminal.wait(), 1);
  EXPECT_EQ(screen.wraps(), 0);
  EXPECT_EQ(screen.rows(),
            Rows{"gpufilter: in/p120x.png: not a " + gpufilter::names_of(codecs()) + " picture"});
}

// A picture that arrives piece by piece through a pipe called `name`.
class OnePictureOnTerminal : public ProgressOnTerminal {
 protected:
  [[nodiscard]] TerminalScreen watch(const std::string& name, int columns) const {
    const std::string path = folder_ / name;
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    PseudoTerminal terminal(words({name, "out.png", "-q", "--progress", "on", "--band-rows", "8",
                                   "--on-exists", "overwrite"}),
                            folder_.path(), columns);
    std::thread writer([&] {
      const FileDescriptor pipe = open_file(path, O_WRONLY);
      for (std::size_t begin = 0; begin < bytes_.size(); begin += bytes_.size() / 8 + 1) {
        const std::string piece = bytes_.substr(begin, bytes_.size() / 8 + 1);
        write_fully(pipe.get(),
                    {reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()});
        std::this_thread::sleep_for(std::chrono::milliseconds(110));
      }
    });
    TerminalScreen screen(static_cast<std::size_t>(columns));
    screen.write(terminal.read_to_end());
    writer.join();
    EXPECT_EQ(terminal.wait(), 0);
    std::filesystem::remove(path);
    return screen;
  }

  const std::string bytes_ = read_file(stored(random_image({1000, 700}, {3, 8}, 1), "whole.png"));
};

TEST_F(OnePictureOnTerminal, HasTheSameBarWithTimeLeft) {
  for (const int columns : {40, 60, 80, 200}) {
    const TerminalScreen screen = watch("in.png", columns);
    expect_no_trace(screen);
    ASSERT_GT(screen.erased().size(), 1U);
    const std::string& line = screen.erased().back();
    EXPECT_TRUE(line.starts_with("in.png, ")) << line;
    EXPECT_TRUE(contains(line, " % [##"));
    EXPECT_TRUE(line.ends_with(" left")) << line;
  }
}

TEST_F(OnePictureOnTerminal, WideAndStrangeNamesDoNotWrap) {
  const std::string cat = "\xe7\x8c\xab";
  for (const std::string& name :
       {cat + cat + cat + cat + cat + cat + cat + cat + cat + cat + cat + cat + "!.png",
        std::string("a\xcc\x88") + "\xff\n\r\033[2J.png", std::string(200, 'x') + ".png"}) {
    for (const int columns : {20, 40, 80}) {
      const TerminalScreen screen = watch(name, columns);
      expect_no_trace(screen);
      ASSERT_FALSE(screen.erased().empty());
    }
  }
}

TEST_F(ProgressOnTerminal, WithoutATerminalNothingIsShownUntilTheEnd) {
  Rows command = slow_folder();
  command.erase(command.begin());
  command.resize(command.size() - 3);  // no -q, and progress as it is by default
  command.insert(command.end(), {"--timing", "off"});
  const ProcessResult result = filter(command, {.folder = folder_.path()});
  EXPECT_TRUE(result.err.starts_with("in -> out: 80 pictures done\n")) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
}

}  // namespace
}  // namespace gpufilter::test
