// Whatever a library does to its process, the probe says so and nothing else ends.
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "device/vendor_probes.hpp"
#include "support/child_process.hpp"

namespace gpufilter::test {
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
  const pid_t child = start_child([] {
    for (const int stream : {0, 1, 2})
      close(stream);
    const std::string failure = probe_library(GPUFILTER_FAKE_VENDOR, limit).failure;
    return failure.ends_with("SIGABRT while making a context ('the fake vendor fails')") ? 0 : 1;
  });
  EXPECT_EQ(wait_for_child(child), 0);
}

TEST_F(Probe, IsInconclusiveWhereItsEndIsUnknown) {
  setenv("FAKE_VENDOR_FAILS", "context abort", 1);
  const pid_t child = start_child([] {
    std::signal(SIGCHLD, SIG_IGN);  // the system forgets children that have ended
    const ProbeResult failed = probe_library(GPUFILTER_FAKE_VENDOR, limit);
    setenv("FAKE_VENDOR_FAILS", "", 1);
    const bool works = probe_library(GPUFILTER_FAKE_VENDOR, limit).failure.empty();
    return !failed.failure.empty() && !failed.conclusive && works ? 0 : 1;
  });
  EXPECT_EQ(wait_for_child(child), 0);
}

TEST_F(Probe, FailsInOrderWhereNoProcessCanBeStarted) {
  const pid_t child = start_child([] {
    const rlimit none{3, 3};  // the standard streams
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) return 2;
    const ProbeResult failed = probe_library(GPUFILTER_FAKE_VENDOR, limit);
    return !failed.conclusive && failed.failure ==
                                     "it cannot be probed in a separate process: cannot start a "
                                     "process: too many open files"
               ? 0
               : 1;
  });
  EXPECT_EQ(wait_for_child(child), 0);
}

// A pipe that the library has opened ends when its process does.
TEST_F(Probe, EndsWithTheProcessThatStartedIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  setenv("FAKE_VENDOR_LOG", path.c_str(), 1);
  setenv("FAKE_VENDOR_FAILS", "platforms hold", 1);
  const pid_t child = start_child([] {
    static_cast<void>(probe_library(GPUFILTER_FAKE_VENDOR, 1h));
    return 0;
  });
  const int file = open(path.c_str(), O_RDONLY);
  char byte = 0;
  ASSERT_EQ(read(file, &byte, 1), 1);  // the probe is running
  ASSERT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(wait_for_child(child), 1000 + SIGKILL);
  while (read(file, &byte, 1) == 1) {  // waits until it is over
  }
  close(file);
}

class VendorProbesTest : public ::testing::Test {
 protected:
  VendorProbesTest() { write_file(library_, "code"); }

  // As in a new process.
  [[nodiscard]] VendorProbes probes() {
    return {file_, [this](const std::string& library) -> ProbeResult {
              probed_ += library + ";";
              if (library == "aborting") return {"it \"fails\"\nin two lines", true};
              if (library == "killed" || all_are_killed_) return {"it was killed", false};
              return {};
            }};
  }

  [[nodiscard]] std::string failure_of(const std::string& library,
                                       PastAnswers past = PastAnswers::used) {
    return probes().failure_of(library, past);
  }

  // The libraries probed since the last call.
  [[nodiscard]] std::string probed() { return std::exchange(probed_, ""); }

  // Whether a new process remembers what was found of the library.
  [[nodiscard]] bool knows(const std::string& library) {
    probed_.clear();
    static_cast<void>(failure_of(library));
    return probed().empty();
  }

  void change_time(const std::string& failure, std::time_t seconds) const {
    nlohmann::json json = nlohmann::json::parse(read_file(*file_));
    for (nlohmann::json& answer : json["answers"]) {
      if (answer["failure"].get<std::string>().starts_with(failure))
        answer["time"] = std::time(nullptr) + seconds;
    }
    write_file(*file_, json.dump());
  }

  TemporaryFolder folder_;
  const std::string library_ = folder_ / "library";
  std::optional<std::string> file_{folder_ / "cache/probes.json"};
  std::string probed_;
  bool all_are_killed_ = false;
};

TEST_F(VendorProbesTest, AFailureIsRememberedForADayWithItsRemedy) {
  const std::string expected =
      "it \"fails\"\nin two lines; update, repair or remove its package; 'gpufilter devices' "
      "probes it again";
  EXPECT_EQ(failure_of("aborting"), expected);
  EXPECT_EQ(probed(), "aborting;");
  EXPECT_EQ(failure_of("aborting"), expected);
  EXPECT_EQ(probed(), "");
  static_cast<void>(failure_of(library_));
  change_time("it", -86'395);
  change_time("", -1'000'000);
  change_time("it", -86'395);
  EXPECT_TRUE(knows("aborting"));
  EXPECT_TRUE(knows(library_));
  change_time("it", -86'400);
  EXPECT_FALSE(knows("aborting"));
  change_time("it", 60);  // the clock was wrong
  EXPECT_FALSE(knows("aborting"));
}

TEST_F(VendorProbesTest, EachLibraryHasItsOwnAnswer) {
  VendorProbes all = probes();
  EXPECT_EQ(all.failure_of(library_, PastAnswers::used), "");
  EXPECT_NE(all.failure_of("aborting", PastAnswers::used), "");
  EXPECT_EQ(all.failure_of(library_, PastAnswers::ignored), "") << "known in this process";
  EXPECT_EQ(probed(), library_ + ";aborting;");
}

// The order of listing devices and filtering must not matter.
TEST_F(VendorProbesTest, AProbeThatFoundNothingOutLeavesTheEarlierAnswer) {
  EXPECT_EQ(failure_of(library_), "");
  const std::string failure = failure_of("aborting");
  all_are_killed_ = true;
  EXPECT_EQ(failure_of(library_, PastAnswers::ignored), "");
  EXPECT_EQ(failure_of("aborting", PastAnswers::ignored), failure);
  EXPECT_EQ(failure_of("unknown", PastAnswers::ignored), "it was killed");
}

TEST_F(VendorProbesTest, ADamagedFileCostsAProbe) {
  static_cast<void>(failure_of(library_));
  const std::string sound = read_file(*file_);
  ASSERT_TRUE(knows(library_));
  for (std::size_t size = 0; size + 2 < sound.size(); size += 7) {
    write_file(*file_, sound.substr(0, size));
    EXPECT_FALSE(knows(library_)) << size << " bytes";
    EXPECT_TRUE(knows(library_)) << size << " bytes";
  }
  for (const char* text :
       {"", "[]", "null", "\xff", R"({"schema": "gpufilter-probes-2"})",
        R"({"schema": "gpufilter-probes-2", "answers": 7})",
        R"({"schema": "gpufilter-probes-2", "answers": {"a": 7, "b": {"time": "?"}}})"}) {
    write_file(*file_, text);
    EXPECT_FALSE(knows(library_)) << text;
    EXPECT_TRUE(knows(library_)) << text;
  }
  for (const char* member : {"failure", "time"}) {
    nlohmann::json json = nlohmann::json::parse(sound);
    for (nlohmann::json& answer : json["answers"])
      answer[member] = nullptr;
    write_file(*file_, json.dump());
    EXPECT_FALSE(knows(library_)) << member;
  }
}

TEST_F(VendorProbesTest, TheOldestOfManyAnswersAreForgotten) {
  static_cast<void>(failure_of("aborting"));
  change_time("it", -10);
  for (int i = 0; i < 63; ++i)
    static_cast<void>(failure_of("library " + std::to_string(i)));
  EXPECT_TRUE(knows("aborting"));
  static_cast<void>(failure_of("one more"));
  EXPECT_TRUE(knows("library 62"));
  EXPECT_FALSE(knows("aborting"));
  EXPECT_EQ(nlohmann::json::parse(read_file(*file_))["answers"].size(), 64U);
}

// Whether the key differs after `change`, in a separate process.
template <typename Change>
bool differs_after(Change change) {
  const int code = wait_for_child(start_child([&change] {
    const std::string before = probe_key("library");
    if (!change()) return 2;
    return probe_key("library") == before ? 0 : 1;
  }));
  EXPECT_LT(code, 2);
  return code == 1;
}

TEST(ProbeKey, CoversWhereLibrariesAreFoundAndNotWhatDriversRead) {
  EXPECT_FALSE(differs_after([] { return true; }));
  for (const char* variable : {"LD_LIBRARY_PATH", "LD_PRELOAD"})
    EXPECT_TRUE(differs_after([&] { return setenv(variable, "a value", 1) == 0; })) << variable;
  for (const char* variable : {"POCL_DEVICES", "CUDA_VISIBLE_DEVICES", "OCL_ICD_VENDORS", "PWD"})
    EXPECT_FALSE(differs_after([&] { return setenv(variable, "a value", 1) == 0; })) << variable;
}

TEST(ProbeKey, CoversTheRootDirectoryAndTheLibrary) {
  EXPECT_NE(probe_key("library"), probe_key("another"));
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root may change the root directory";
  const TemporaryFolder folder;
  const std::string path = folder.path();
  EXPECT_TRUE(differs_after([&path] { return chroot(path.c_str()) == 0; }));
}

TEST(FileIdentity, DiffersAfterEveryChange) {
  const TemporaryFolder folder;
  const std::string path = folder / "library";
  const std::string absent = file_identity(path);
  write_file(path, "one");
  const std::string first = file_identity(path);
  EXPECT_NE(first, absent);
  EXPECT_EQ(file_identity(path), first);
  write_file(folder / "other", "one");
  EXPECT_NE(file_identity(folder / "other"), first);
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(1));
  EXPECT_NE(file_identity(path), first);  // the same length, but written later
  const std::string second = file_identity(path);
  std::filesystem::rename(folder / "other", path);
  EXPECT_NE(file_identity(path), second);
}

}  // namespace
}  // namespace gpufilter::test
