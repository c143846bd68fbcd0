// Signals, limits and disturbances from outside.
#include <regex>

#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"
#include "support/child_process.hpp"
#include "support/pseudo_terminal.hpp"
#include "support/strange_files.hpp"

namespace gpufilter::test {
namespace {

// Signals in the middle of the work.

struct Signals : ProgramTest {
  // Sends `signal_number` to a run that has begun its output and waits for the rest of its input.
  // Returns its exit code.
  [[nodiscard]] int interrupt(int signal_number, const std::string& device) const {
    const std::string input = folder_ / "in.fifo";
    if (::mkfifo(input.c_str(), 0600) != 0) return -1;
    const pid_t child = start_child([&] {
      ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
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
    // Libraries raise SIGABRT on fatal errors.
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
  // Other temporary files stay: they may belong to another killed run, which will be repeated.
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
      ": the file would exceed the file size limit (ulimit -f) or the file system's\n";
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
  for (const std::string& name : names_in(folder_ / "cache/gpufilter"))
    EXPECT_TRUE(name == "programs" || name == "rates.json" || name == "probes.json") << name;
}

// A run over a folder that the user interrupts.

struct BatchInterrupt : BatchTest {
  void SetUp() override {
    BatchTest::SetUp();
    put_many(80, {500, 200});
  }

  // Takes a second or so.
  [[nodiscard]] Words words(const Words& more) const {
    return Words{"in",          "out", "--blur", "auto", "--device", "cpu",
                 "--png-level", "8",   "--jobs", "1",    "--timing", "off"} +
           more;
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
  const Words command = words({"--progress", "on"});
  PseudoTerminal terminal(Words{GPUFILTER_PROGRAM} + command, folder_.path(), 100);
  TerminalScreen screen(100);
  while (screen.erased().size() < 2)
    screen.write(terminal.read());
  terminal.press('\3');
  screen.write(terminal.read_to_end());
  EXPECT_EQ(terminal.wait(), 130);
  ASSERT_EQ(screen.rows().size(), 1U) << ::testing::PrintToString(screen.rows());
  expect_message(screen.rows()[0], "with --resume");
}

TEST_F(BatchInterrupt, OtherSignalsSayTheSameUnlessTheRunIsQuiet) {
  for (const auto& [signal_number, more, remedy] : {std::tuple{SIGTERM, Words{}, "with --resume"},
                                                    {SIGINT, Words{"--resume"}, "again"},
                                                    {SIGINT, Words{"-q"}, ""}}) {
    const InterruptedProgram result = end_early(signal_number, more);
    EXPECT_EQ(result.exit_code, 128 + signal_number);
    if (*remedy == '\0') {
      EXPECT_EQ(result.err, "");
    } else {
      ASSERT_TRUE(result.err.ends_with('\n')) << result.err;
      expect_message(result.err.substr(0, result.err.size() - 1), remedy);
    }
    fs::remove_all(out_);
  }
}

// Limits of processes, as containers have them, and of memory.

struct ProcessLimits : ProgramTest {
  // Runs gpufilter in this test's folder after the shell's `command`; the superuser, who has no
  // limit of processes, as user_of_this_process().
  [[nodiscard]] ProcessResult limited(const std::string& command, const Words& arguments) {
    Words words;
    if (::geteuid() == 0)
      words = {"setpriv", "--reuid=" + std::to_string(user_of_this_process()), "--regid=65534",
               "--clear-groups"};
    for (const std::string& word :
         {std::string("bash"), std::string("-c"), command + "; exec \"$0\" \"$@\"",
          std::string(GPUFILTER_PROGRAM)})
      words.push_back(word);
    words = words + arguments;
    ProcessOptions options{.environment = {{"XDG_CACHE_HOME", folder_ / "cache"}}};
    options.folder = folder_.path();
    return run_process(words, with_defaults(options));
  }

  void SetUp() override {
    forget_pocl_cache();  // the other user may not write there
    ::chmod(folder_.path().c_str(), 0777);
    fs::create_directory(folder_ / "cache");
    ::chmod((folder_ / "cache").c_str(), 0777);
    fs::create_directory(folder_ / "in");
    for (int i = 0; i < 12; ++i)
      write_png(random_image({301, 200}, {3, 8}, i),
                folder_ / ("in/" + std::to_string(i) + ".png"));
    filter_quietly({in_, expected_, "--blur", "auto"});
    before_ = names_in(folder_.path());
  }

  void expect_output_alone() {
    EXPECT_EQ(read_file(folder_ / "out.png"), read_file(expected_));
    fs::remove(folder_ / "out.png");
    EXPECT_EQ(names_in(folder_.path()), before_);
  }

  const std::string in_ = stored(random_image({1200, 800}, {3, 8}, 1), "in.png");
  const std::string expected_ = folder_ / "expected.png";
  Words before_;
};

TEST_F(ProcessLimits, ThePictureIsFilteredWithTheThreadsThereAre) {
  for (const auto& [limit, threads, device] :
       each_of(std::array{"1", "3", "16"}, std::array{"1", "64"}, std::array{"cpu", "auto"})) {
    SCOPED_TRACE(std::string(limit) + " " + threads + " " + device);
    const ProcessResult run = limited(
        std::string("ulimit -u ") + limit,
        {"in.png", "out.png", "--blur", "auto", "--threads", threads, "--device", device, "-q"});
    EXPECT_EQ(run.exit_code, 0) << run.signal;
    EXPECT_EQ(run.err, "");
    expect_output_alone();
  }
}

TEST_F(ProcessLimits, TheReportSaysHowManyThreadsThereAre) {
  EXPECT_EQ(ended(0, limited("ulimit -u 1", {"in.png", "out.png", "--blur", "auto", "--threads",
                                             "64", "--device", "cpu", "--timing", "off"}))
                .err,
            "gpufilter: warning: 1 thread instead of 64: a limit on processes or memory allows no "
            "more\n");
}

TEST_F(ProcessLimits, AFolderIsFilteredWithTheThreadsThereAre) {
  for (const char* limit : {"1", "9"}) {
    const ProcessResult run =
        limited(std::string("ulimit -u ") + limit,
                {"in", "out/", "--threads", "64", "--jobs", "64", "--device", "cpu", "-q"});
    EXPECT_EQ(run.exit_code, 0) << run.signal;
    EXPECT_EQ(run.err, "");
    const auto written = names_in(folder_ / "out");
    EXPECT_EQ(written.size(), 13U) << ::testing::PrintToString(written);  // with the journal
    fs::remove_all(folder_ / "out");
  }
}

TEST_F(ProcessLimits, PoclGetsTheThreadsThereAre) {
  GPUFILTER_REQUIRE_DEVICE();
  const ProcessResult run = limited(
      "ulimit -u 16",
      {"in.png", "out.png", "--blur", "auto", "--threads", "64", "--device", "opencl", "-q"});
  EXPECT_EQ(run.exit_code, 0) << run.signal;
  expect_output_alone();
}

// libde265 and x265 would wait for their threads for ever.
TEST_F(ProcessLimits, HeicIsReadAndWrittenOrRefused) {
  if (codec_of_name("a.heic") == nullptr ||
      filter({in_, folder_ / "in.heic", "--quality", "50"}).exit_code != 0)
    GTEST_SKIP() << "skipped: HEIC cannot be written here";
  ::chmod((folder_ / "in.heic").c_str(), 0666);
  for (const char* limit : {"1", "2", "3", "4", "12"}) {
    for (const auto& [from, to] :
         {std::pair{"in.heic", "out.png"}, std::pair{"in.png", "out.heic"}}) {
      SCOPED_TRACE(std::string(limit) + " " + from);
      const ProcessResult run =
          limited(std::string("ulimit -u ") + limit, {from, to, "--device", "cpu", "-q"});
      if (run.exit_code == 0) continue;
      EXPECT_EQ(run.exit_code, 1) << run.signal;
      expect_one_line(run.err, {"allows no more: raise it (ulimit -u)"});
      EXPECT_TRUE(std::string(limit) != "12" || ::geteuid() != 0);  // others have other processes
    }
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(ProcessLimits, LittleMemoryIsAnOrdinaryFailure) {
  for (const auto& [mebibytes, device] :
       each_of(std::array{40, 48, 64, 96, 192, 384}, std::array{"cpu", "opencl"})) {
    SCOPED_TRACE(std::to_string(mebibytes) + " " + device);
    const ProcessResult run = limited(
        "ulimit -v " + std::to_string(mebibytes * 1024),
        {"in.png", "out.png", "--blur", "auto", "--threads", "8", "--device", device, "-q"});
    if (run.exit_code == 127) continue;  // the program does not fit
    if (run.exit_code == 0) {
      expect_output_alone();
      continue;
    }
    EXPECT_LT(mebibytes, 192);
    EXPECT_EQ(run.exit_code, 1) << run.signal;
    const std::string last = run.err.substr(run.err.find("gpufilter: in.png"));
    EXPECT_EQ(last, "gpufilter: in.png: not enough memory for this picture\n");
    EXPECT_EQ(names_in(folder_.path()), before_);
  }
}
#endif

// The memory of a run over a folder.

using BatchMemory = BatchTest;

// Memory is reused for the next picture. Only a name and a line of the journal are kept.
TEST_F(BatchMemory, HardlyGrowsWithTheNumberOfPictures) {
  constexpr std::uint64_t few = 300;
  constexpr std::uint64_t many = 3000;
  constexpr std::uint64_t kept_for_each = 2U << 10U;
  put("p0.png", {32, 32});
  const auto add_copies = [this](std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i)
      fs::copy_file(in_ + "/p0.png", formatted("{}/p{}.png", in_, i));
  };
  add_copies(1, few);
  const std::uint64_t memory_of_few = good_batch({"-q"}).peak_memory;
  add_copies(few, many);
  const std::uint64_t memory_of_many = good_batch({"-q", "--on-exists", "overwrite"}).peak_memory;
  EXPECT_LT(memory_of_many, memory_of_few + kept_for_each * (many - few));
}

// Something unexpected in place of one of the program's files: no run waits for it.

struct StrangeStateFiles : BatchTest {
  [[nodiscard]] ProcessOptions options() const {
    return {.environment = {{"XDG_CACHE_HOME", folder_ / "cache"}},
            .time_limit = std::chrono::seconds(60)};
  }
};

TEST_F(StrangeStateFiles, InTheCacheAreIgnored) {
  put("a.png");
  const fs::path cache = folder_.path() / "cache/gpufilter";
  fs::create_directories(cache);
  for (const auto& strange : strange_files(64)) {
    SCOPED_TRACE(strange.name);
    for (const char* name : {"rates.json", "tuning.json", "probes.json"}) {
      fs::remove_all(cache / name);
      strange.make(cache / name);
    }
    const ProcessResult result =
        filter({in_ + "/a.png", folder_ / "a.png", "--blur", "auto", "-q"}, options());
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
  }
}

}  // namespace
}  // namespace gpufilter::test
