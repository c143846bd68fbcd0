#include "batch/gather.hpp"

#include "base/atomic_file.hpp"
#include "base/process.hpp"
#include "batch/shard_run.hpp"
#include "support/child_process.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

const ContentHash work{7, 7};

// A run over a.png (10 bytes), b.png (8) and c.png (6): in two shards, a is in the first one, b and
// c are in the second.
struct Gather : ::testing::Test {
  Gather() {
    fs::create_directory(output_);
    begin();
  }

  void begin(bool keeps_existing = false) const {
    ShardRun run;
    run.id = {1, 1};
    run.input = "photos";
    run.working_folder = "/data/my photos";
    run.command = "gpufilter photos results --blur auto";
    run.works = {work};
    run.keeps_existing = keeps_existing;
    const PictureList listing(std::vector<SizedName>{{"a.png", 10}, {"b.png", 8}, {"c.png", 6}});
    run.listing = content_hash(listing.text());
    static_cast<void>(publish_shard_run(output_, run, listing));
  }

  // Writes a result and records it.
  void finish(Journal& journal, const std::string& name) const {
    test::write_file(output_ / name, "result of " + name);
    journal.add(name, record_of(name));
  }

  [[nodiscard]] JournalRecord record_of(const std::string& name) const {
    JournalRecord record;
    record.work = work;
    record.output = content_hash("result of " + name);
    record.output_bytes = ("result of " + name).size();
    record.output_stamp = stamp_of(output_ / name);
    return record;
  }

  // Runs `body` in a process that works on a shard.
  template <typename Body>
  void in_process(std::uint32_t index, Body body) {
    const auto work_and_end = [&] {
      body(*begin_shard_journal(output_, {index, 2}));
      return 0;
    };
    ASSERT_EQ(test::wait_for_child(test::start_child(work_and_end)), 0);
    // A child has the token of its parent.
    const std::string name = std::to_string(index) + "-of-2-";
    fs::rename(output_ / shards_name / (name + process_token()),
               output_ / shards_name / (name + formatted("{:016}", ++processes_)));
  }

  // Runs a process that filters these pictures of a shard and ends.
  void run_shard(std::uint32_t index, const std::vector<std::string>& names) {
    in_process(index, [&](Journal& journal) {
      for (const std::string& name : names)
        finish(journal, name);
      note_end(journal);
    });
  }

  [[nodiscard]] GatherReport gather() const { return gather_shards(output_); }

  [[nodiscard]] std::vector<std::string> names() const { return test::names_in(output_); }

  const test::TemporaryFolder folder_;
  const fs::path output_ = folder_.path() / "results";
  int processes_ = 0;
};

using Names = std::vector<std::string>;

TEST_F(Gather, MakesOneJournalOnceAllIsDone) {
  run_shard(0, {"a.png"});
  run_shard(1, {"b.png", "c.png"});
  const GatherReport report = gather();
  EXPECT_TRUE(report.complete());
  EXPECT_TRUE(report.gathered);
  EXPECT_EQ(report.pictures, 3U);
  EXPECT_EQ(report.done, 3U);
  EXPECT_EQ(report.processes, 2U);
  EXPECT_EQ(names(), (Names{".gpufilter-journal", "a.png", "b.png", "c.png"}));
  const JournalRecords records = read_journal(output_);
  EXPECT_EQ(records.size(), 3U);
  for (const auto& [name, record] : records)
    EXPECT_EQ(record, record_of(name)) << name;
}

TEST_F(Gather, ASecondTimeThereIsNothingToDo) {
  run_shard(0, {"a.png"});
  run_shard(1, {"b.png", "c.png"});
  EXPECT_TRUE(gather().gathered);
  const std::string before = test::read_file(output_ / journal_name);
  const GatherReport again = gather();
  EXPECT_TRUE(again.complete());
  EXPECT_FALSE(again.gathered);
  EXPECT_EQ(again.done, 3U);
  EXPECT_EQ(test::read_file(output_ / journal_name), before);
  fs::remove(output_ / "b.png");
  const GatherReport lost = gather();
  EXPECT_FALSE(lost.complete());
  ASSERT_EQ(lost.unfinished.size(), 1U);
  EXPECT_EQ(lost.unfinished[0].output, "b.png");
}

TEST_F(Gather, ListsMissingPicturesWithTheCommandsForThem) {
  run_shard(1, {"c.png"});
  for (int times = 0; times < 2; ++times) {
    const GatherReport report = gather();
    EXPECT_FALSE(report.complete());
    EXPECT_FALSE(report.gathered);
    EXPECT_EQ(report.done, 1U);
    ASSERT_EQ(report.unfinished.size(), 2U);
    EXPECT_EQ(report.unfinished[0].input, "photos/a.png");
    EXPECT_EQ(report.unfinished[0].shard, (Shard{0, 2}));
    EXPECT_EQ(report.unfinished[0].failure, "");
    EXPECT_EQ(report.unfinished[1].input, "photos/b.png");
    EXPECT_EQ(report.unfinished[1].shard, (Shard{1, 2}));
    const std::string begin = "cd '/data/my photos' && gpufilter photos results --blur auto";
    EXPECT_EQ(report.commands, (Names{begin + " --shard 0/2", begin + " --shard 1/2"}));
  }
  EXPECT_TRUE(read_shard_run(output_));  // the run goes on
  run_shard(0, {"a.png"});
  run_shard(1, {"b.png"});
  EXPECT_TRUE(gather().gathered);
  EXPECT_EQ(read_journal(output_).size(), 3U);
}

TEST_F(Gather, ReportsFailuresUntilARetrySucceeds) {
  run_shard(0, {"a.png"});
  in_process(1, [&](Journal& journal) {
    finish(journal, "c.png");
    note_failure(journal, "b.png", "photos/b.png: not a picture");
    note_end(journal);
  });
  const GatherReport report = gather();
  EXPECT_FALSE(report.complete());
  ASSERT_EQ(report.unfinished.size(), 1U);
  EXPECT_EQ(report.unfinished[0].failure, "photos/b.png: not a picture");
  EXPECT_EQ(report.commands.size(), 1U);
  run_shard(1, {"b.png"});
  EXPECT_TRUE(gather().gathered);
}

TEST_F(Gather, BelievesTheDiskAndNotTheJournal) {
  run_shard(0, {"a.png"});
  run_shard(1, {"b.png", "c.png"});
  const std::string right = test::read_file(output_ / "a.png");
  std::string wrong = right;
  wrong.back() = '!';
  test::write_file(output_ / "a.png", wrong);
  EXPECT_EQ(gather().unfinished.size(), 1U);
  test::write_file(output_ / "a.png", right + "more");
  EXPECT_EQ(gather().unfinished.size(), 1U);
  fs::remove(output_ / "a.png");
  EXPECT_EQ(gather().unfinished.size(), 1U);
  test::write_file(output_ / "a.png", right);  // another stamp, the same bytes
  EXPECT_TRUE(gather().gathered);
}

// Two processes worked on one shard, and the input had changed when the second one read it.
TEST_F(Gather, UsesTheRecordThatMatchesTheFile) {
  run_shard(1, {"b.png", "c.png"});
  run_shard(0, {"a.png"});
  in_process(0, [&](Journal& journal) {
    JournalRecord other = record_of("a.png");
    other.output = content_hash("never written");
    other.output_stamp.reset();
    journal.add("a.png", other);
  });
  EXPECT_TRUE(gather().gathered);
  EXPECT_EQ(read_journal(output_).at("a.png"), record_of("a.png"));
}

TEST_F(Gather, ResultsOfOtherWorkDoNotCount) {
  run_shard(1, {"b.png", "c.png"});
  test::write_file(output_ / "a.png", "result of a.png");
  JournalRecord earlier = record_of("a.png");
  earlier.work = {8, 8};
  Journal(output_).add("a.png", earlier);
  EXPECT_EQ(gather().unfinished.size(), 1U);
  // Results of earlier runs with the same work count.
  earlier.work = work;
  Journal(output_).add("a.png", earlier);
  EXPECT_TRUE(gather().gathered);
}

TEST_F(Gather, ExistingResultsCountIfTheRunKeepsThem) {
  test::write_file(output_ / "a.png", "of someone else");
  run_shard(0, {});
  run_shard(1, {"b.png", "c.png"});
  EXPECT_EQ(gather().unfinished.size(), 1U);
  fs::remove_all(output_ / shards_name);
  begin(true);
  run_shard(1, {"b.png", "c.png"});
  const GatherReport report = gather();
  EXPECT_TRUE(report.gathered);
  EXPECT_EQ(report.done, 3U);
  EXPECT_FALSE(read_journal(output_).contains("a.png"));
}

TEST_F(Gather, ChangesNothingWhileAShardIsAtWork) {
  run_shard(1, {"c.png"});
  const auto journal = begin_shard_journal(output_, {0, 2});
  const GatherReport report = gather();
  EXPECT_FALSE(report.complete());
  EXPECT_FALSE(report.gathered);
  ASSERT_EQ(report.at_work.size(), 1U);
  EXPECT_EQ(report.at_work[0].shard, (Shard{0, 2}));
  EXPECT_EQ(report.at_work[0].process, ::getpid());
  EXPECT_EQ(report.under_way, 1U);
  ASSERT_EQ(report.unfinished.size(), 1U);
  EXPECT_EQ(report.unfinished[0].output, "b.png");
  EXPECT_EQ(read_journal(output_).size(), 0U);
  // Even if all results exist: that process may be replacing one.
  run_shard(1, {"b.png"});
  finish(*journal, "a.png");
  const GatherReport done = gather();
  EXPECT_EQ(done.done, 3U);
  EXPECT_FALSE(done.complete());
  EXPECT_FALSE(done.busy);
  EXPECT_TRUE(read_shard_run(output_));
}

TEST_F(Gather, WaitsForAnotherProgram) {
  run_shard(0, {"a.png"});
  run_shard(1, {"b.png", "c.png"});
  {
    const Journal other(output_);
    const GatherReport report = gather();
    EXPECT_TRUE(report.busy);
    EXPECT_FALSE(report.complete());
    EXPECT_EQ(report.done, 3U);
  }
  EXPECT_TRUE(gather().gathered);
}

TEST_F(Gather, RemovesFilesOfKilledProcesses) {
  run_shard(0, {"a.png"});
  run_shard(1, {"b.png", "c.png"});
  in_process(1, [&](Journal&) {
    const AtomicFile half(output_ / "b.png");
    ::_exit(0);
  });
  EXPECT_EQ(names().size(), 6U);
  const GatherReport report = gather();
  EXPECT_TRUE(report.gathered);
  EXPECT_TRUE(report.stopped.empty());  // the pictures that it left are done
  EXPECT_EQ(names(), (Names{".gpufilter-journal", "a.png", "b.png", "c.png"}));
}

TEST_F(Gather, NamesTheProcessThatWasKilled) {
  run_shard(0, {"a.png"});
  in_process(1, [&](Journal& journal) { finish(journal, "c.png"); });
  const GatherReport report = gather();
  ASSERT_EQ(report.stopped.size(), 1U);
  EXPECT_EQ(report.stopped[0].shard, (Shard{1, 2}));
  EXPECT_TRUE(report.at_work.empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  run_shard(1, {});  // its retry has ended, without success
  EXPECT_TRUE(gather().stopped.empty());
}

// flock() fails, or seems to succeed for everyone.
TEST_F(Gather, NeedsNoLocks) {
  for (const int error : {ENOLCK, 0}) {
    fs::remove_all(output_);
    fs::create_directory(output_);
    begin();
    run_shard(0, {"a.png"});
    in_process(1, [&](Journal& journal) { finish(journal, "c.png"); });
    const auto gather_twice = [&] {
      if (!test::forget_locks(error)) return 77;
      const GatherReport report = gather();
      if (report.complete() || report.stopped.size() != 1 || report.unfinished.size() != 1)
        return 1;
      in_process(1, [&](Journal& journal) { finish(journal, "b.png"); });
      return gather().gathered ? 0 : 2;
    };
    const int code = test::wait_for_child(test::start_child(gather_twice));
    if (code == 77) GTEST_SKIP() << "skipped: system calls cannot be filtered here";
    EXPECT_EQ(code, 0) << error;
    EXPECT_EQ(names(), (Names{".gpufilter-journal", "a.png", "b.png", "c.png"}));
  }
}

// A shard that finds the folder locked would end with an error.
TEST_F(Gather, LocksNothingBeforeAllIsDone) {
  run_shard(0, {"a.png"});
  std::atomic<bool> ended = false;
  std::thread looking([&] {
    while (!ended)
      EXPECT_FALSE(gather().complete());
  });
  for (int i = 0; i < 300; ++i)
    EXPECT_NO_THROW(static_cast<void>(begin_shard_journal(output_, {1, 2})));
  ended = true;
  looking.join();
}

// Killed after the run was moved away, and before it was removed.
TEST_F(Gather, RemovesFilesOfAKilledGather) {
  run_shard(0, {"a.png"});
  run_shard(1, {"b.png", "c.png"});
  EXPECT_TRUE(gather().gathered);
  fs::create_directory(output_ / ".gpufilter-gathered");
  test::write_file(output_ / ".gpufilter-gathered" / "run", "");
  EXPECT_TRUE(gather().complete());
  EXPECT_EQ(names(), (Names{".gpufilter-journal", "a.png", "b.png", "c.png"}));
}

TEST_F(Gather, RefusesFoldersWithoutResultsAndDamagedListings) {
  EXPECT_THROW(static_cast<void>(gather_shards(folder_ / "nowhere")), UsageError);
  fs::create_directory(folder_ / "empty");
  EXPECT_THROW(static_cast<void>(gather_shards(folder_ / "empty")), UsageError);
  test::write_file(folder_ / "file", "");
  EXPECT_THROW(static_cast<void>(gather_shards(folder_ / "file")), UsageError);
  EXPECT_EQ(test::names_in(folder_ / "empty"), Names{});
  run_shard(0, {"a.png"});
  for (const auto& entry : fs::directory_iterator(output_ / shards_name)) {
    if (entry.path().filename().string().starts_with("listing-"))
      test::write_file(entry.path(), "1\ta.png");
  }
  EXPECT_THROW(static_cast<void>(gather()), PictureError);
}

}  // namespace
}  // namespace gpufilter
