// Whatever ends a trial ends nothing else, and the way it ended is reported.
#include "device/trial_server.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

using namespace std::chrono_literals;

// A trial that does what its subject says.
void obey(const std::string& subject, const TrialNotes& notes) {
  notes.note("first");
  notes.step("preparing");
  notes.step("doing as requested");
  if (subject == "abort") std::abort();
  if (subject == "crash") std::raise(SIGSEGV);
  if (subject == "exit") std::exit(0);  // NOLINT(concurrency-mt-unsafe)
  if (subject == "exit 7") _exit(7);
  if (subject == "kill") std::raise(SIGKILL);
  if (subject == "throw") throw std::runtime_error("thrown");
  if (subject == "hang") std::this_thread::sleep_for(1h);
  if (subject == "speak and abort") {
    std::fputs("\n  what went\twrong\nmore\n", stdout);
    std::fflush(stdout);
    std::abort();
  }
  if (subject == "close and hang") {
    for (int file = 0; file < 1024; ++file)
      close(file);
    std::this_thread::sleep_for(1h);
  }
  notes.note(subject);
}

class Trials : public ::testing::Test {
 protected:
  TrialResult result(const std::string& subject) { return server_.run(subject); }

  void expect_failure(const std::string& subject, const std::string& ending) {
    const TrialResult failed = result(subject);
    EXPECT_FALSE(failed.survived) << subject;
    EXPECT_TRUE(failed.conclusive) << subject;
    EXPECT_EQ(failed.ending, ending) << subject;
  }

  TrialServer server_{obey, 300ms};
};

TEST_F(Trials, ThatComeToTheirEndLeaveNotes) {
  const TrialResult survived = result("a subject\nof two lines");
  EXPECT_TRUE(survived.survived);
  EXPECT_TRUE(survived.conclusive);
  EXPECT_EQ(survived.ending, "");
  EXPECT_EQ(survived.notes, (std::vector<std::string>{"first", "a subject\nof two lines"}));
}

TEST_F(Trials, ThatEndTheirProcessSayWhenAndHow) {
  GPUFILTER_REQUIRE_A_NEW_PROCESS();
  expect_failure("abort", "SIGABRT while doing as requested");
  expect_failure("crash", "SIGSEGV while doing as requested");
  expect_failure("exit", "exit(0) while doing as requested");
  expect_failure("exit 7", "exit(7) while doing as requested");
  expect_failure("hang", "no answer within 0.3 s while doing as requested");
  expect_failure("close and hang", "no answer within 0.3 s while doing as requested");
}

TEST_F(Trials, AreQuotedAndDoNotPrint) {
  GPUFILTER_REQUIRE_A_NEW_PROCESS();
  ::testing::internal::CaptureStdout();
  expect_failure("speak and abort", "SIGABRT while doing as requested ('what went\\twrong')");
  // The output of another trial is forgotten.
  expect_failure("abort", "SIGABRT while doing as requested");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST_F(Trials, ThatThrowSurvive) {
  EXPECT_TRUE(result("throw").survived);
}

TEST_F(Trials, ThatAreKilledFromOutsideAreInconclusive) {
  const TrialResult killed = result("kill");
  EXPECT_FALSE(killed.survived);
  EXPECT_FALSE(killed.conclusive);
  EXPECT_EQ(killed.ending, "SIGKILL while doing as requested");
}

TEST_F(Trials, FollowEachOtherWhateverBecameOfThem) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(result(std::to_string(i)).survived);
    EXPECT_FALSE(result("abort").survived);
  }
}

TEST(TrialServer, WithOtherThreadsNoFailureIsConclusive) {
  std::thread([] {}).join();
  TrialServer server(obey, 10s);
  EXPECT_FALSE(server.run("abort").conclusive);
  EXPECT_TRUE(server.run("").conclusive);
}

TEST(TrialServer, MayBeStartedWithoutStandardStreams) {
  const pid_t child = test::start_child([] {
    for (const int stream : {0, 1, 2})
      close(stream);
    TrialServer server(obey, 10s);
    const bool survived = server.run("").survived;
    const std::string ending = server.run("speak and abort").ending;
    return survived && ending == "SIGABRT while doing as requested ('what went\\twrong')" ? 0 : 1;
  });
  EXPECT_EQ(test::wait_for_child(child), 0);
}

TEST(TrialServer, IsNotStoppedByTheTerminal) {
  const pid_t child = test::start_child([] {
    std::signal(SIGINT, [](int) {});
    TrialServer server(
        [](const std::string&, const TrialNotes&) {
          kill(getppid(), SIGINT);
          std::raise(SIGINT);
          std::raise(SIGTSTP);
        },
        10s);
    return server.run("").survived && server.run("").survived ? 0 : 1;
  });
  EXPECT_EQ(test::wait_for_child(child), 0);
}

TEST(TrialServer, FailsOrderlyWhereNoProcessCanBeStarted) {
  const pid_t child = test::start_child([] {
    const rlimit none{3, 3};  // the standard streams
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) return 2;
    TrialServer server(obey, 10s);
    const TrialResult failed = server.run("");
    return !failed.survived && !failed.conclusive && !failed.ending.empty() ? 0 : 1;
  });
  EXPECT_EQ(test::wait_for_child(child), 0);
}

// A pipe that the trial has opened ends when the trial does.
TEST(TrialServer, EndsWithTheProcessThatStartedIt) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const pid_t child = test::start_child([&path] {
    TrialServer server(
        [&path](const std::string&, const TrialNotes&) {
          const int file = open(path.c_str(), O_WRONLY);
          static_cast<void>(!write(file, "x", 1));
          std::this_thread::sleep_for(1h);
        },
        1h);
    return server.run("").survived ? 0 : 1;
  });
  const int file = open(path.c_str(), O_RDONLY);
  char byte = 0;
  ASSERT_EQ(read(file, &byte, 1), 1);  // the trial is running
  ASSERT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(test::wait_for_child(child), 1000 + SIGKILL);
  EXPECT_EQ(read(file, &byte, 1), 0);  // waits until it is over
  close(file);
}

}  // namespace
}  // namespace gpufilter
