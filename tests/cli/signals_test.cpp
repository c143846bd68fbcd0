// Runs that are interrupted.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <regex>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch_fixture.hpp"
#include "support/child_process.hpp"
#include "support/interrupted_program.hpp"
#include "support/pseudo_terminal.hpp"
#include "support/terminal_screen.hpp"

namespace gpufilter::test {
namespace {

// Signals in the middle of the work.

class Signals : public ProgramTest {
 protected:
  // Sends `signal_number` to a run that has begun its output and waits for the rest of its input.
  // Returns its exit code.
  [[nodiscard]] int interrupt(int signal_number, const std::string& device) const {
    const std::string input = folder_ / "in.fifo";
    if (::mkfifo(input.c_str(), 0600) != 0) return -1;
    const pid_t child = start_child([&] {
      const int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, STDERR_FILENO);
      std::signal(signal_number, SIG_DFL);
      ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
      ::execl(GPUFILTER_PROGRAM, "gpufilter", input.c_str(), out_.c_str(), "--blur", "naive",
              "--device", device.c_str(), nullptr);
      return 99;
    });
    const int pipe = ::open(input.c_str(), O_WRONLY);
    std::thread writer([&] {
      // Neither the rest nor the end ever arrives.
      static_cast<void>(!::write(pipe, bytes_.data(), bytes_.size() * 3 / 4));
    });
    EXPECT_TRUE(wait_for_temporary()) << "the output was never begun";
    ::kill(child, signal_number);
    const int exit_code = wait_for_child(child);
    writer.join();
    ::close(pipe);
    fs::remove(input);
    return exit_code;
  }

  // Waits until an output in progress appears; false if that takes too long.
  [[nodiscard]] bool wait_for_temporary() const {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < limit) {
      for (const std::string& name : names_in(folder_ / "results")) {
        if (name.starts_with(".out.png.")) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    forget_pocl_cache();
    fs::create_directory(folder_ / "results");
  }

  // Noise, so that the file is much larger than the reader's first request.
  const std::string bytes_ = read_file(stored(random_image({800, 400}, {3, 8}, 1), "whole.png"));
  const std::string out_ = folder_ / "results/out.png";
};

TEST_F(Signals, EndTheRunWithoutTraces) {
  for (const std::string device : {"opencl", "cpu"}) {
    EXPECT_EQ(interrupt(SIGINT, device), 130) << device;
    EXPECT_EQ(interrupt(SIGTERM, device), 143) << device;
    EXPECT_EQ(interrupt(SIGHUP, device), 129) << device;
    EXPECT_EQ(interrupt(SIGQUIT, device), 131) << device;
    // With this one libraries give up.
    EXPECT_EQ(interrupt(SIGABRT, device), 1000 + SIGABRT) << device;
    EXPECT_EQ(names_in(folder_ / "results"), Words{}) << device;
  }
}

TEST_F(Signals, LeaveTheOldOutput) {
  for (const int signal_number : {SIGINT, SIGTERM}) {
    write_file(out_, "before");
    EXPECT_EQ(interrupt(signal_number, "auto"), 128 + signal_number);
    EXPECT_EQ(names_in(folder_ / "results"), Words{"out.png"});
    EXPECT_EQ(read_file(out_), "before");
  }
}

TEST_F(Signals, WhatAKilledRunLeftGoesWithTheNextRunToTheSameName) {
  EXPECT_EQ(interrupt(SIGKILL, "cpu"), 1000 + SIGKILL);
  const auto left = names_in(folder_ / "results");
  ASSERT_EQ(left.size(), 1U);
  EXPECT_TRUE(begins(left[0], ".out.png.gpufilter-"));
  // Others are left alone: another run may have been killed that is yet to be repeated.
  const std::string whole = folder_ / "whole.png";
  filter_quietly({whole, folder_ / "results/other.png"});
  EXPECT_EQ(names_in(folder_ / "results"), (Words{left[0], "other.png"}));
  const std::string link = folder_ / "link.png";
  fs::create_symlink("results/out.png", link);
  const ProcessResult next = ended(0, filter({whole, link, "-v"}));
  EXPECT_EQ(next.err.substr(0, next.err.find('\n')),
            "gpufilter: " + link + ": removed 1 temporary file of interrupted runs");
  EXPECT_EQ(names_in(folder_ / "results"), (Words{"other.png", "out.png"}));
}

TEST_F(Signals, AtTheFileSizeLimitOnlyThePictureFails) {
  const std::string program = GPUFILTER_PROGRAM;
  fs::create_directory(folder_ / "in");
  fs::copy_file(folder_ / "whole.png", folder_ / "in/large.png");
  fs::copy_file(stored(random_image({10, 10}, {3, 8}, 1), "s.png"), folder_ / "in/small.png");
  const std::string limited = "ulimit -f 64; exec \"$0\" \"$@\"";  // KiB, or half of that
  const std::string reason =
      ": the file would exceed the file size limit (ulimit -f) or that of the file system\n";
  ProcessResult run = ended(1, run_process({"sh", "-c", limited, program, folder_ / "whole.png",
                                            out_, "-q", "--device", "cpu"},
                                           with_defaults({})));
  EXPECT_EQ(run.err, "gpufilter: " + out_ + reason);
  EXPECT_EQ(names_in(folder_ / "results"), Words{});
  run = run_process(
      {"sh", "-c", limited, program, folder_ / "in", folder_ / "results", "-q", "--device", "cpu"},
      with_defaults({}));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err, "gpufilter: " + (folder_ / "results/large.png") + reason);
  EXPECT_EQ(names_in(folder_ / "results"), (Words{".gpufilter-journal", "small.png"}));
}

TEST_F(Signals, AScratchFolderLeftBehindGoesWithTheNextRun) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_EQ(interrupt(SIGINT, "opencl"), 130);
  filter_quietly({folder_ / "whole.png", out_, "--blur", "naive"},
                 {.environment = {{"XDG_CACHE_HOME", folder_ / "cache"}}});
  for (const std::string& name : names_in(folder_ / "cache/gpufilter")) {
    EXPECT_TRUE(name == "programs" || name == "rates.json" || name == "probes.json") << name;
  }
}

// A run over a folder that the user interrupts.

class BatchInterrupt : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    put_many(80, {500, 200});
  }

  // Takes a second or so.
  [[nodiscard]] Words words(const Words& more) const {
    const Words all = Words{"in",          "out", "--blur", "auto", "--device", "cpu",
                            "--png-level", "8",   "--jobs", "1",    "--timing", "off"} +
                      more;
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
    ended(0, filter(words({"--resume"}), {.folder = folder_.path()}));
    EXPECT_TRUE(results_in(out_) == expected);
  }

  // Once the first picture is done.
  [[nodiscard]] InterruptedProgram end_early(int signal_number, const Words& more) const {
    return interrupt_program(words(more), folder_.path(), signal_number,
                             [this] { return finished_pictures(out_) > 0; });
  }
};

TEST_F(BatchInterrupt, ControlCTakesTheBarAwayAndSaysHowFarItCame) {
  Words command = words({"--progress", "on"});
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
