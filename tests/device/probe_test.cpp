// Whatever a library does to its process, the probe says so and nothing else ends.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "device/vendor_probes.hpp"
#include "support/child_process.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

using namespace std::chrono_literals;

constexpr auto limit = 20s;

// The fake vendor is told by variables what to do.
class Probe : public ::testing::Test {
 protected:
  Probe() { setenv("FAKE_VENDOR_GPU", "1", 1); }
  ~Probe() override {
    for (const char* variable : {"FAKE_VENDOR_GPU", "FAKE_VENDOR_FAILS", "FAKE_VENDOR_LOG"})
      unsetenv(variable);
  }

  static ProbeResult result(const char* moment_and_way,
                            std::chrono::milliseconds patience = limit) {
    setenv("FAKE_VENDOR_FAILS", moment_and_way, 1);
    return probe_library(GPUFILTER_FAKE_VENDOR, patience);
  }

  static void expect_failure(const char* moment_and_way, const std::string& end,
                             bool conclusive = true, std::chrono::milliseconds patience = limit) {
    const ProbeResult failed = result(moment_and_way, patience);
    EXPECT_EQ(failed.conclusive, conclusive) << moment_and_way;
    EXPECT_EQ(failed.failure,
              "it failed when probed in a separate process: " + end + " ('the fake vendor fails')")
        << moment_and_way;
  }
};

TEST_F(Probe, OfAWorkingLibraryFindsNoFailure) {
  const ProbeResult works = result("");
  EXPECT_TRUE(works.conclusive);
  EXPECT_EQ(works.failure, "");
}

TEST_F(Probe, SaysWhenAndHowAProcessEnded) {
  expect_failure("load abort", "SIGABRT while loading it");
  expect_failure("load exit", "exit(0) while loading it");
  expect_failure("platforms crash", "SIGSEGV while loading it");
  expect_failure("devices exit", "exit(0) while looking for its devices");
  expect_failure("context abort", "SIGABRT while making a context");
  expect_failure("launch crash", "SIGSEGV while running a kernel");
}

TEST_F(Probe, KillsAProcessThatHangs) {
  const auto begin = std::chrono::steady_clock::now();
  expect_failure("load hang", "no answer within 1.5 s while loading it", true, 1500ms);
  expect_failure("context close", "no answer within 1.5 s while making a context", true, 1500ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST_F(Probe, KilledFromOutsideIsInconclusive) {
  expect_failure("context kill", "SIGKILL while making a context", false);
}

TEST_F(Probe, WorksWhereNothingCanBeLoaded) {
  EXPECT_EQ(probe_library("libthere-is-no-such-vendor.so.1", limit).failure, "");
}

TEST_F(Probe, MayBeginWhileOtherThreadsRun) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(
        [] { EXPECT_EQ(probe_library(GPUFILTER_FAKE_VENDOR, limit).failure, ""); });
}

TEST_F(Probe, MayBeginWithoutStandardStreams) {
  setenv("FAKE_VENDOR_FAILS", "context abort", 1);
  const pid_t child = test::start_child([] {
    for (const int stream : {0, 1, 2})
      close(stream);
    const std::string failure = probe_library(GPUFILTER_FAKE_VENDOR, limit).failure;
    return failure.ends_with("SIGABRT while making a context ('the fake vendor fails')") ? 0 : 1;
  });
  EXPECT_EQ(test::wait_for_child(child), 0);
}

TEST_F(Probe, IsInconclusiveWhereItsEndIsUnknown) {
  setenv("FAKE_VENDOR_FAILS", "context abort", 1);
  const pid_t child = test::start_child([] {
    std::signal(SIGCHLD, SIG_IGN);  // the system forgets children that have ended
    const ProbeResult failed = probe_library(GPUFILTER_FAKE_VENDOR, limit);
    setenv("FAKE_VENDOR_FAILS", "", 1);
    const bool works = probe_library(GPUFILTER_FAKE_VENDOR, limit).failure.empty();
    return !failed.failure.empty() && !failed.conclusive && works ? 0 : 1;
  });
  EXPECT_EQ(test::wait_for_child(child), 0);
}

TEST_F(Probe, FailsInOrderWhereNoProcessCanBeStarted) {
  const pid_t child = test::start_child([] {
    const rlimit none{3, 3};  // the standard streams
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) return 2;
    const ProbeResult failed = probe_library(GPUFILTER_FAKE_VENDOR, limit);
    return !failed.conclusive && failed.failure ==
                                     "it cannot be probed in a separate process: cannot start a "
                                     "process: too many open files"
               ? 0
               : 1;
  });
  EXPECT_EQ(test::wait_for_child(child), 0);
}

// A pipe that the library has opened ends when its process does.
TEST_F(Probe, EndsWithTheProcessThatStartedIt) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  setenv("FAKE_VENDOR_LOG", path.c_str(), 1);
  setenv("FAKE_VENDOR_FAILS", "platforms hold", 1);
  const pid_t child = test::start_child([] {
    static_cast<void>(probe_library(GPUFILTER_FAKE_VENDOR, 1h));
    return 0;
  });
  const int file = open(path.c_str(), O_RDONLY);
  char byte = 0;
  ASSERT_EQ(read(file, &byte, 1), 1);  // the probe is running
  ASSERT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(test::wait_for_child(child), 1000 + SIGKILL);
  while (read(file, &byte, 1) == 1) {  // waits until it is over
  }
  close(file);
}

}  // namespace
}  // namespace gpufilter
