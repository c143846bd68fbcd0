#include "device/vendor_probes.hpp"

#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "support/child_process.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

using Json = nlohmann::json;

class VendorProbesTest : public ::testing::Test {
 protected:
  VendorProbesTest() { test::write_file(library_, "code"); }

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
    Json json = Json::parse(test::read_file(*file_));
    for (Json& answer : json["answers"]) {
      if (answer["failure"].get<std::string>().starts_with(failure))
        answer["time"] = std::time(nullptr) + seconds;
    }
    test::write_file(*file_, json.dump());
  }

  test::TemporaryFolder folder_;
  const std::string library_ = folder_ / "library";
  std::optional<std::string> file_{folder_ / "cache/probes.json"};
  std::string probed_;
  bool all_are_killed_ = false;
};

TEST_F(VendorProbesTest, AWorkingLibraryIsProbedOnceForAllProcesses) {
  EXPECT_EQ(failure_of(library_), "");
  EXPECT_EQ(probed(), library_ + ";");
  EXPECT_EQ(failure_of(library_), "");
  EXPECT_EQ(probed(), "");
  EXPECT_EQ(failure_of(library_, PastAnswers::ignored), "");
  EXPECT_EQ(probed(), library_ + ";");
}

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

TEST_F(VendorProbesTest, AnAnswerHoldsAsLongAsItsLibrary) {
  EXPECT_FALSE(knows(library_));
  EXPECT_TRUE(knows(library_));
  test::write_file(library_, "other code");
  EXPECT_FALSE(knows(library_));
  EXPECT_TRUE(knows(library_));
  std::filesystem::rename(library_, folder_ / "moved");
  EXPECT_FALSE(knows(library_));
  EXPECT_TRUE(knows(library_));
}

TEST_F(VendorProbesTest, WhatWasKilledFromOutsideIsNotRemembered) {
  EXPECT_FALSE(knows("killed"));
  EXPECT_FALSE(knows("killed"));
  EXPECT_EQ(failure_of("killed"), "it was killed") << "its package is not to blame";
}

// So that it does not matter whether a list of devices or a filter asks first.
TEST_F(VendorProbesTest, AProbeThatFoundNothingOutLeavesTheEarlierAnswer) {
  EXPECT_EQ(failure_of(library_), "");
  const std::string failure = failure_of("aborting");
  all_are_killed_ = true;
  EXPECT_EQ(failure_of(library_, PastAnswers::ignored), "");
  EXPECT_EQ(failure_of("aborting", PastAnswers::ignored), failure);
  EXPECT_EQ(failure_of("unknown", PastAnswers::ignored), "it was killed");
}

TEST_F(VendorProbesTest, WithoutAFileEachProcessProbes) {
  file_.reset();
  EXPECT_FALSE(knows(library_));
  EXPECT_FALSE(knows(library_));
}

TEST_F(VendorProbesTest, AFileThatCannotBeWrittenCostsAProbe) {
  file_ = library_ + "/probes.json";
  EXPECT_FALSE(knows("aborting"));
  EXPECT_FALSE(knows("aborting"));
  std::filesystem::create_directories(folder_ / "folder");
  file_ = folder_ / "folder";
  EXPECT_FALSE(knows("aborting"));
}

TEST_F(VendorProbesTest, ADamagedFileCostsAProbe) {
  static_cast<void>(failure_of(library_));
  const std::string sound = test::read_file(*file_);
  ASSERT_TRUE(knows(library_));
  for (std::size_t size = 0; size + 2 < sound.size(); size += 7) {
    test::write_file(*file_, sound.substr(0, size));
    EXPECT_FALSE(knows(library_)) << size << " bytes";
    EXPECT_TRUE(knows(library_)) << size << " bytes";
  }
  for (const char* text :
       {"", "[]", "null", "\xff", R"({"schema": "gpufilter-probes-2"})",
        R"({"schema": "gpufilter-probes-2", "answers": 7})",
        R"({"schema": "gpufilter-probes-2", "answers": {"a": 7, "b": {"time": "?"}}})"}) {
    test::write_file(*file_, text);
    EXPECT_FALSE(knows(library_)) << text;
    EXPECT_TRUE(knows(library_)) << text;
  }
  for (const char* member : {"failure", "time"}) {
    Json json = Json::parse(sound);
    for (Json& answer : json["answers"])
      answer[member] = nullptr;
    test::write_file(*file_, json.dump());
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
  EXPECT_EQ(Json::parse(test::read_file(*file_))["answers"].size(), 64U);
}

// Whether the key differs after `change`, in a separate process.
template <typename Change>
bool differs_after(Change change) {
  const int code = test::wait_for_child(test::start_child([&change] {
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
  const test::TemporaryFolder folder;
  const std::string path = folder.path();
  EXPECT_TRUE(differs_after([&path] { return chroot(path.c_str()) == 0; }));
}

TEST(FileIdentity, DiffersAfterEveryChange) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "library";
  const std::string absent = file_identity(path);
  test::write_file(path, "one");
  const std::string first = file_identity(path);
  EXPECT_NE(first, absent);
  EXPECT_EQ(file_identity(path), first);
  test::write_file(folder / "other", "one");
  EXPECT_NE(file_identity(folder / "other"), first);
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(1));
  EXPECT_NE(file_identity(path), first);  // the same length, but written later
  const std::string second = file_identity(path);
  std::filesystem::rename(folder / "other", path);
  EXPECT_NE(file_identity(path), second);
}

}  // namespace
}  // namespace gpufilter
