#include "device/vendor_checks.hpp"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

#include "support/child_process.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

using namespace std::chrono_literals;

class VendorChecksTest : public ::testing::Test {
 protected:
  // As in a new process; each trial adds its library to a file.
  [[nodiscard]] VendorChecks::Settings settings() const {
    const auto trial = [log = log_](const std::string& library, const TrialNotes& notes) {
      test::write_file(log, test::read_file(log) + library + ";");
      notes.step("being tried");
      if (library.ends_with("aborting")) std::abort();
      if (library.ends_with("killed")) std::raise(SIGKILL);
      notes.note(library);
    };
    return {store_, surroundings_, trial, 10s};
  }

  // The failure of `library` in a new process.
  [[nodiscard]] std::string failure_of(const std::string& library,
                                       PastAnswers past = PastAnswers::used) const {
    VendorChecks checks(settings());
    checks.prepare({library}, past);
    return checks.failure_of(library);
  }

  // The libraries tried since the last call.
  [[nodiscard]] std::string tried() const {
    std::string all = test::read_file(log_);
    test::write_file(log_, "");
    return all;
  }

  void SetUp() override { test::write_file(log_, ""); }

  test::TemporaryFolder folder_;
  const std::string log_ = folder_ / "log";
  const std::string library_ = folder_ / "library";
  std::string surroundings_ = "here\n";
  std::optional<TrialStore> store_{folder_.path() / "cache/vendor-trials"};
};

TEST_F(VendorChecksTest, AWorkingLibraryIsTriedOnceForAllProcesses) {
  test::write_file(library_, "code");
  EXPECT_EQ(failure_of(library_), "");
  EXPECT_EQ(tried(), library_ + ";");
  EXPECT_EQ(failure_of(library_), "");
  EXPECT_EQ(tried(), "");
}

TEST_F(VendorChecksTest, AFailureIsRememberedWithItsRemedy) {
  GPUFILTER_REQUIRE_A_NEW_PROCESS();
  for (const char* expected : {"aborting;", ""}) {
    const std::string failure = failure_of("aborting");
    EXPECT_NE(failure.find("SIGABRT while being tried"), std::string::npos) << failure;
    EXPECT_NE(failure.find("'gpufilter devices' tries it again"), std::string::npos) << failure;
    EXPECT_EQ(tried(), expected);
  }
}

TEST_F(VendorChecksTest, EachLibraryHasItsOwnAnswer) {
  VendorChecks checks(settings());
  checks.prepare({"aborting", "one", "other"}, PastAnswers::used);
  EXPECT_EQ(tried(), "");  // not before a request
  EXPECT_EQ(checks.failure_of("other"), "");
  EXPECT_NE(checks.failure_of("aborting"), "");
  EXPECT_EQ(checks.failure_of("other"), "");
  EXPECT_EQ(tried(), "other;aborting;");
  // Not prepared for.
  EXPECT_EQ(checks.failure_of("one"), "");
  EXPECT_NE(checks.failure_of("also aborting"), "");
  EXPECT_EQ(tried(), "one;also aborting;");
}

TEST_F(VendorChecksTest, ChangesLetALibraryBeTriedAgain) {
  test::write_file(library_, "code");
  static_cast<void>(failure_of(library_));
  static_cast<void>(tried());
  test::write_file(library_, "other code");
  EXPECT_EQ(failure_of(library_), "");
  EXPECT_EQ(tried(), library_ + ";");
  surroundings_ = "elsewhere\n";
  EXPECT_EQ(failure_of(library_), "");
  EXPECT_EQ(tried(), library_ + ";");
  EXPECT_EQ(failure_of(library_, PastAnswers::ignored), "");
  EXPECT_EQ(tried(), library_ + ";");
}

TEST_F(VendorChecksTest, WhatWasKilledFromOutsideIsNotRemembered) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(failure_of("killed").find("SIGKILL"), std::string::npos);
    EXPECT_EQ(tried(), "killed;");
  }
}

TEST_F(VendorChecksTest, WithoutAStoreEachProcessTries) {
  store_.reset();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(failure_of("library"), "");
    EXPECT_EQ(tried(), "library;");
  }
}

TEST_F(VendorChecksTest, AStoreThatCannotBeUsedCostsATrial) {
  store_.emplace(folder_.path() / "log" / "vendor-trials");
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(failure_of("aborting"), "");
    EXPECT_EQ(tried(), "aborting;");
  }
}

}  // namespace
}  // namespace gpufilter
