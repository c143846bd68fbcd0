// Limits of processes, as containers have them, and of memory.
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "cli/program_fixture.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class ProcessLimits : public ProgramTest {
 protected:
  // Runs gpufilter in this test's folder after the shell's `command`; the superuser, who has no
  // limit of processes, as another user.
  [[nodiscard]] ProcessResult limited(const std::string& command,
                                      const std::vector<std::string>& arguments) {
    std::vector<std::string> words;
    if (::geteuid() == 0) words = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    for (const std::string& word :
         {std::string("bash"), std::string("-c"), command + "; exec \"$0\" \"$@\"",
          std::string(GPUFILTER_PROGRAM)})
      words.push_back(word);
    words.insert(words.end(), arguments.begin(), arguments.end());
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
  std::vector<std::string> before_;
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
  const ProcessResult run =
      ended(0, limited("ulimit -u 1", {"in.png", "out.png", "--blur", "auto", "--threads", "64",
                                       "--device", "cpu", "--timing", "off"}));
  EXPECT_EQ(run.err,
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

}  // namespace
}  // namespace gpufilter::test
