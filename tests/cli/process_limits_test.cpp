// Limits and disturbances from outside.
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"
#include "support/strange_files.hpp"

namespace gpufilter::test {
namespace {

// Limits of processes, as containers have them, and of memory.

class ProcessLimits : public ProgramTest {
 protected:
  // Runs gpufilter in this test's folder after the shell's `command`; the superuser, who has no
  // limit of processes, as another user.
  [[nodiscard]] ProcessResult limited(const std::string& command, const Words& arguments) {
    Words words;
    if (::geteuid() == 0) words = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
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
  for (const char* limit : {"1", "3", "16"}) {
    for (const char* threads : {"1", "64"}) {
      for (const char* device : {"cpu", "auto"}) {
        SCOPED_TRACE(std::string(limit) + " " + threads + " " + device);
        const ProcessResult run = limited(std::string("ulimit -u ") + limit,
                                          {"in.png", "out.png", "--blur", "auto", "--threads",
                                           threads, "--device", device, "-q"});
        EXPECT_EQ(run.exit_code, 0) << run.signal;
        EXPECT_EQ(run.err, "");
        expect_output_alone();
      }
    }
  }
}

TEST_F(ProcessLimits, TheReportSaysHowManyThreadsThereAre) {
  EXPECT_EQ(ended(0, limited("ulimit -u 1", {"in.png", "out.png", "--blur", "auto", "--threads",
                                             "64", "--device", "cpu", "--timing", "off"}))
                .err,
            "gpufilter: warning: 1 thread instead of 64: a limit of processes or memory allows no "
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
      EXPECT_NE(std::string(limit), "12");
    }
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(ProcessLimits, LittleMemoryIsAnOrdinaryFailure) {
  for (const int mebibytes : {40, 48, 64, 96, 192, 384}) {
    for (const char* device : {"cpu", "opencl"}) {
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
}
#endif

// The memory of a run over a folder.

using BatchMemory = BatchTest;

// What a picture used is used again for the next one. A name and a line of the journal are kept.
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

// Something strange in place of a file that the program keeps: no run waits for it.

class StrangeStateFiles : public BatchTest {
 protected:
  [[nodiscard]] ProcessOptions options() const {
    return {.environment = {{"XDG_CACHE_HOME", folder_ / "cache"}},
            .time_limit = std::chrono::seconds(60)};
  }

  void expect_journal_refused(const Words& more, const std::string& reason) const {
    const ProcessResult result = batch(more, options());
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.err, "gpufilter: " + out_ + "/.gpufilter-journal: " + reason +
                              "; remove it to begin a new journal\n");
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

TEST_F(StrangeStateFiles, InPlaceOfTheJournalEndTheRunAtOnce) {
  put("a.png");
  for (const auto& strange : strange_files(4096)) {
    SCOPED_TRACE(strange.name);
    fs::remove_all(out_);
    fs::create_directory(out_);
    strange.make(fs::path(out_) / ".gpufilter-journal");
    expect_journal_refused({}, strange.reason);
    expect_journal_refused({"--resume"}, strange.reason);
    EXPECT_FALSE(fs::exists(fs::path(out_) / "a.png"));
  }
}

}  // namespace
}  // namespace gpufilter::test
