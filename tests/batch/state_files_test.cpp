// Journals in whose place something strange lies: the run ends at once, with a remedy.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "batch/journal.hpp"
#include "batch/shard_run.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/strange_files.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

template <typename Action>
std::string failure_of(const Action& action) {
  return test::objection_to<PictureError>([&] { action(); }, "");
}

TEST(StateFiles, AStrangeJournalIsNamedWithARemedy) {
  const test::Alarm alarm;
  for (const auto& strange : test::strange_files(4096)) {
    const test::TemporaryFolder folder;
    const std::string path = folder / journal_name;
    strange.make(path);
    const std::string remedy = "; remove it to begin a new journal";
    EXPECT_EQ(failure_of([&] { static_cast<void>(read_journal(folder.path())); }),
              path + ": " + strange.reason + remedy);
    const std::string opened =
        strange.name == "zeros" ? "is a symbolic link" : strange.reason;  // which is not followed
    EXPECT_EQ(failure_of([&] { Journal journal(folder.path()); }), path + ": " + opened + remedy);
  }
}

// The file that a rewritten journal is written to has a fixed name.
TEST(StateFiles, APipeInPlaceOfTheNewJournalIsRemoved) {
  const test::Alarm alarm;
  for (const auto& strange : test::strange_files(4096)) {
    if (strange.name == "folder" || strange.name == "sparse") continue;
    const test::TemporaryFolder folder;
    { Journal(folder.path()).add("a.png", {}); }
    const std::string path = folder / journal_name;
    test::write_file(path, test::read_file(path) + "damaged\n");
    strange.make(path + ".new");
    EXPECT_EQ(failure_of([&] { Journal journal(folder.path()); }), "");
    EXPECT_FALSE(fs::exists(fs::symlink_status(path + ".new"))) << strange.name;
    EXPECT_EQ(read_journal(folder.path()).size(), 1U);
  }
}

TEST(StateFiles, AStrangeJournalOfAShardIsNamedWithARemedy) {
  const test::Alarm alarm;
  for (const auto& strange : test::strange_files(4096)) {
    const test::TemporaryFolder folder;
    const fs::path shards = folder.path() / shards_name;
    fs::create_directory(shards);
    { const auto journal = begin_shard_journal(folder.path(), {0, 2}); }
    const std::string path = fs::directory_iterator(shards)->path();
    fs::remove(path);
    strange.make(path);
    const auto read = [&] {
      static_cast<void>(read_shard_journals(folder.path(), [](const Shard&) { return true; }));
    };
    std::string reason = strange.reason + "; remove it to go on without it";
    if (strange.name == "folder") reason = strange.reason;
    if (strange.name == "zeros") reason = "is a symbolic link; remove it to go on without it";
    EXPECT_EQ(failure_of(read), path + ": " + reason);
  }
}

TEST(StateFiles, AStrangeRunFileIsNamedWithARemedy) {
  const test::Alarm alarm;
  for (const auto& strange : test::strange_files(4096)) {
    if (strange.name == "folder") continue;
    const test::TemporaryFolder folder;
    const fs::path shards = folder.path() / shards_name;
    fs::create_directory(shards);
    strange.make(shards / "run");
    EXPECT_EQ(
        failure_of([&] { static_cast<void>(read_shard_run(folder.path())); }),
        (shards / "run").native() + ": " + strange.reason + "; remove it to begin the run again");
  }
}

}  // namespace
}  // namespace gpufilter
