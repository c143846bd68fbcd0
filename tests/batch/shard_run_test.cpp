#include "batch/shard_run.hpp"

#include <csignal>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/process.hpp"
#include "support/child_process.hpp"
#include "support/names_in.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

class ShardRuns : public ::testing::Test {
 protected:
  [[nodiscard]] ShardRun run(std::uint64_t id) const {
    return {{1, id},          content_hash(listing_.text()), "in \n\xff", "PNG", "/a folder",
            "gpufilter 'a b'"};
  }

  [[nodiscard]] std::vector<ShardJournal> journals() const {
    return read_shard_journals(folder_.path(), [](const Shard&) { return true; });
  }

  test::TemporaryFolder folder_;
  fs::path shards_ = folder_.path() / shards_name;
  PictureList listing_{{{"b.png", 2}, {"a.png", 1}}};
};

TEST_F(ShardRuns, AreReadBack) {
  EXPECT_FALSE(read_shard_run(folder_.path()));
  EXPECT_EQ(publish_shard_run(folder_.path(), run(1), listing_), run(1));
  EXPECT_EQ(read_shard_run(folder_.path()), run(1));
  EXPECT_EQ(read_run_listing(folder_.path(), run(1)).text(), listing_.text());
  EXPECT_EQ(test::names_in(shards_).size(), 2U) << "the run and its listing, nothing else";
}

TEST_F(ShardRuns, TheFirstOneIsKept) {
  static_cast<void>(publish_shard_run(folder_.path(), run(1), listing_));
  EXPECT_EQ(publish_shard_run(folder_.path(), run(2), listing_), run(1));
  EXPECT_EQ(read_shard_run(folder_.path()), run(1));
}

TEST_F(ShardRuns, DamageIsNoticed) {
  static_cast<void>(publish_shard_run(folder_.path(), run(1), listing_));
  const std::string list = shards_ / ("listing-" + to_string(run(1).listing));
  test::write_file(list, test::read_file(list) + "5\tc.png");
  EXPECT_THROW(static_cast<void>(read_run_listing(folder_.path(), run(1))), PictureError);
  fs::remove(list);
  EXPECT_THROW(static_cast<void>(read_run_listing(folder_.path(), run(1))), PictureError);
  const std::string path = shards_ / "run";
  const std::string text = test::read_file(path);
  test::write_file(path, text.substr(0, text.size() - 1));
  EXPECT_THROW(static_cast<void>(read_shard_run(folder_.path())), PictureError);
}

// As on a file system without hard links, where the file is incomplete at first.
TEST_F(ShardRuns, WaitsForARunThatIsBeingWritten) {
  static_cast<void>(publish_shard_run(folder_.path(), run(1), listing_));
  const std::string path = shards_ / "run";
  const std::string text = test::read_file(path);
  test::write_file(path, text.substr(0, 20));
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    test::write_file(path, text);
  });
  EXPECT_EQ(read_shard_run(folder_.path()), run(1));
  writer.join();
}

TEST_F(ShardRuns, JournalsRecordTheWorkOfTheirProcesses) {
  static_cast<void>(publish_shard_run(folder_.path(), run(1), listing_));
  EXPECT_TRUE(journals().empty());
  JournalRecord record;
  record.output_bytes = 7;
  {
    const auto journal = begin_shard_journal(folder_.path(), {3, 10});
    EXPECT_TRUE(journal->is_locked());
    journal->add("a b.png", record);
    note_failure(*journal, "c\n.png", "c\n.png: no such file");
    note_failure(*journal, "d.png", "d.png: too large");
    journal->add("d.png", record);
    const auto all = journals();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_TRUE(all[0].at_work);
    EXPECT_FALSE(all[0].ended);
    note_end(*journal);
  }
  const auto all = journals();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].process.shard, (Shard{3, 10}));
  EXPECT_EQ(all[0].process.token, process_token());
  EXPECT_EQ(all[0].process.process, ::getpid());
  EXPECT_NE(all[0].process.host, "");
  EXPECT_FALSE(all[0].at_work);
  EXPECT_TRUE(all[0].ended);
  EXPECT_EQ(all[0].records.size(), 2U);
  EXPECT_EQ(all[0].records.at("a b.png"), record);
  EXPECT_EQ(all[0].failures,
            (std::map<std::string, std::string>{{"c\n.png", "c\n.png: no such file"}}));
  EXPECT_TRUE(read_shard_journals(folder_.path(), [](const Shard& shard) {
                return shard.index != 3;
              }).empty());
}

TEST_F(ShardRuns, AKilledProcessIsNotAtWork) {
  static_cast<void>(publish_shard_run(folder_.path(), run(1), listing_));
  const pid_t child = test::start_child([&] {
    const auto journal = begin_shard_journal(folder_.path(), {0, 2});
    journal->add("a.png", {});
    ::raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(test::wait_for_child(child), 1000 + SIGKILL);
  const auto all = journals();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all[0].at_work);
  EXPECT_FALSE(all[0].ended);
  EXPECT_EQ(all[0].records.size(), 1U);
}

TEST_F(ShardRuns, TheFolderIsForShardsOrForOneRun) {
  static_cast<void>(publish_shard_run(folder_.path(), run(1), listing_));
  {
    const auto first = begin_shard_journal(folder_.path(), {0, 2});
    const auto second = begin_shard_journal(folder_.path(), {1, 2});
    EXPECT_THROW(const Journal alone(folder_.path()), UsageError);
  }
  const Journal alone(folder_.path());
  EXPECT_THROW(static_cast<void>(begin_shard_journal(folder_.path(), {0, 2})), UsageError);
}

}  // namespace
}  // namespace gpufilter
