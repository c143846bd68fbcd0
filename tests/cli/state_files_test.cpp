// Something strange in place of a file that the program keeps: no run waits for it.
#include "cli/batch_fixture.hpp"
#include "support/strange_files.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

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
