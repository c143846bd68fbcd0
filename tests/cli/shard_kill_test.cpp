// Shards that are killed, stopped and retried, on file systems with and without locks.
#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/batch_fixture.hpp"
#include "support/child_process.hpp"
#include "support/file_locks.hpp"
#include "support/interrupted_program.hpp"

namespace gpufilter::test {
namespace {

class ShardEnds : public ShardTest {
 protected:
  void SetUp() override {
    ShardTest::SetUp();
    put_many(24, {150, 120});
    put("sub/large.png", {400, 300});
    const auto begin = std::chrono::steady_clock::now();
    expected_ = undisturbed(options_);
    duration_ = std::chrono::steady_clock::now() - begin;
  }

  // How long shards may work before they are killed. Adapts to how fast they are now: other work
  // on the machine begins and ends.
  class Patience {
   public:
    explicit Patience(std::chrono::steady_clock::duration work)
        : limit_(work / 5), maximum_(work) {}

    // A random moment within it.
    [[nodiscard]] std::chrono::milliseconds moment(unsigned seed) const {
      std::mt19937 random(seed);
      return std::chrono::duration_cast<std::chrono::milliseconds>(
          limit_ * std::uniform_real_distribution<>(0.1, 1)(random));
    }
    void adapt(bool was_killed) {
      limit_ = was_killed ? std::min(limit_ + limit_ / 2, maximum_) : limit_ / 2;
    }

   private:
    std::chrono::steady_clock::duration limit_;
    std::chrono::steady_clock::duration maximum_;
  };

  // Kills the shard at a random moment of its work. Returns whether it was still at work.
  [[nodiscard]] bool kill(int index, int count, unsigned seed, Patience& patience) const {
    const ProcessResult result =
        shard(index, count, quietly(), {.time_limit = patience.moment(seed)});
    EXPECT_TRUE(result.exit_code == 0 || result.signal == SIGKILL) << result.err;
    const bool was_killed = result.signal == SIGKILL;
    patience.adapt(was_killed);
    return was_killed;
  }

  void finish(int index, int count) const { ended(0, shard(index, count, quietly())); }

  [[nodiscard]] Words quietly() const {
    Words words = options_;
    words.emplace_back("-q");
    return words;
  }

  [[nodiscard]] std::ptrdiff_t temporary_files() const {
    const Files files = pictures_in(out_);
    return std::count_if(files.begin(), files.end(), [](const auto& file) {
      return is_temporary_name(fs::path(file.first).filename().native());
    });
  }

  // Every shard is killed and retried several times, all at the same time.
  void kill_and_retry(int count) const {
    std::vector<std::future<int>> shards;
    for (int index = 0; index < count; ++index) {
      shards.push_back(std::async(std::launch::async, [this, index, count] {
        int kills = 0;
        Patience patience(duration_ / count);
        for (unsigned round = 0; round < 6; ++round)
          kills += kill(index, count, static_cast<unsigned>(index) * 100 + round, patience) ? 1 : 0;
        finish(index, count);
        return kills;
      }));
    }
    int kills = 0;
    for (auto& killed : shards)
      kills += killed.get();
    EXPECT_GT(kills, count) << "this shows nothing";
    EXPECT_TRUE(pictures_in(out_) == expected_);
    EXPECT_EQ(temporary_files(), 0);
  }

  // Runs a part of a test without file locks, see forget_locks().
  template <typename Body>
  void without_locks(int error, const Body& body) const {
    constexpr int cannot = 77;
    const int result = wait_for_child(start_child([&] {
      if (!forget_locks(error)) return cannot;
      body();
      return ::testing::Test::HasFailure() ? 1 : 0;
    }));
    if (result == cannot) GTEST_SKIP() << "skipped: this system has no filters for system calls";
    EXPECT_EQ(result, 0);
  }

  const Words options_{"--png-level", "9", "--recursive", "--jobs", "2"};
  Files expected_;
  std::chrono::steady_clock::duration duration_{};
};

TEST_F(ShardEnds, KilledShardsAreTriedAgainToTheSameBytes) {
  kill_and_retry(3);
}

TEST_F(ShardEnds, KilledShardsLeaveNothingUnfinishedWithoutLocks) {
  without_locks(ENOLCK, [&] { kill_and_retry(3); });
}

TEST_F(ShardEnds, KilledShardsLeaveNothingUnfinishedWhereLocksMeanNothing) {
  without_locks(0, [&] { kill_and_retry(3); });
}

TEST_F(ShardEnds, AnotherNumberOfShardsGoesOn) {
  int kills = 0;
  int left = 0;
  Patience patience(duration_ / 4);
  for (unsigned round = 0; round < 40 && (kills < 6 || left == 0); ++round) {
    kills += kill(static_cast<int>(round % 4), 4, round, patience) ? 1 : 0;
    left += temporary_files() > 0 ? 1 : 0;
  }
  EXPECT_GE(kills, 6);
  EXPECT_GT(left, 0) << "no shard was killed while it wrote: this shows nothing";
  for (int index = 0; index < 3; ++index)
    finish(index, 3);
  EXPECT_TRUE(pictures_in(out_) == expected_);
  EXPECT_EQ(temporary_files(), 0);
}

// A shard that is stopped in the middle of a picture until this object is destroyed.
class StoppedShard {
 public:
  StoppedShard(const Words& words, const std::function<bool()>& is_writing) {
    child_ = start_child([&] {
      std::vector<char*> arguments;
      std::string program = GPUFILTER_PROGRAM;
      arguments.push_back(program.data());
      Words copies = words;
      for (std::string& word : copies)
        arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
      ::execv(program.c_str(), arguments.data());
      return 99;
    });
    for (int tries = 0; tries < 10'000; ++tries) {
      ::kill(child_, SIGSTOP);
      int status = 0;
      ::waitpid(child_, &status, WUNTRACED);
      if (!WIFSTOPPED(status)) child_ = 0;
      if (child_ == 0 || (stopped_ = is_writing())) return;
      ::kill(child_, SIGCONT);
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  }
  ~StoppedShard() {
    if (child_ > 0) ::kill(child_, SIGKILL);
    if (child_ > 0) static_cast<void>(wait_for_child(child_));
  }
  StoppedShard(const StoppedShard&) = delete;
  StoppedShard& operator=(const StoppedShard&) = delete;

  [[nodiscard]] bool stopped() const { return stopped_; }
  // Lets it continue. Returns its exit code.
  [[nodiscard]] int go_on() {
    ::kill(child_, SIGCONT);
    return wait_for_child(std::exchange(child_, 0));
  }

 private:
  pid_t child_ = 0;
  bool stopped_ = false;
};

TEST_F(ShardEnds, ALivingShardKeepsItsTemporaryFiles) {
  // Another one has died, so that there is something to remove.
  Words words = command(quietly());
  words.insert(words.end(), {"--shard", "1/2"});
  {
    const StoppedShard dies(words, [&] { return temporary_files() > 0; });
    ASSERT_TRUE(dies.stopped());
  }
  const std::ptrdiff_t dead = temporary_files();
  ASSERT_GT(dead, 0);
  words.back() = "0/2";
  StoppedShard lives(words, [&] { return temporary_files() > dead; });
  ASSERT_TRUE(lives.stopped());
  const std::ptrdiff_t living = temporary_files() - dead;
  finish(1, 2);
  EXPECT_EQ(temporary_files(), living);
  // Meanwhile, no undivided run may use the folder.
  EXPECT_TRUE(contains(ended(2, batch({"--resume", "--recursive", "--png-level", "9"})).err,
                       "another gpufilter is writing to this folder"));
  EXPECT_EQ(lives.go_on(), 0);
  EXPECT_TRUE(pictures_in(out_) == expected_);
}

TEST_F(ShardEnds, TheSameShardTwiceIsReportedAndHarmless) {
  Words words = command(quietly());
  words.insert(words.end(), {"--shard", "0/2"});
  StoppedShard first(words, [&] { return temporary_files() > 0; });
  ASSERT_TRUE(first.stopped());
  Words loud = options_;
  EXPECT_TRUE(
      contains(ended(0, shard(0, 2, loud)).err, "shard 0/2 is also in progress in process "));
  EXPECT_EQ(first.go_on(), 0);
  finish(1, 2);
  EXPECT_TRUE(pictures_in(out_) == expected_);
  EXPECT_EQ(temporary_files(), 0);
}

TEST_F(ShardEnds, AnInterruptedShardSaysWhatToDo) {
  // Once 5 of 25 pictures are done.
  const InterruptedProgram result =
      interrupt_program(command({"--png-level", "9", "--recursive", "--jobs", "1", "--shard", "0/1",
                                 "--progress", "off"}),
                        folder_.path(), SIGTERM, [this] { return finished_pictures(out_) > 4; });
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_TRUE(contains(result.err, "; the same command again does the rest\n"));
  EXPECT_EQ(temporary_files(), 0);
  finish(0, 1);
  EXPECT_TRUE(pictures_in(out_) == expected_);
}

TEST_F(ShardEnds, OneRunWithoutLocksIsWarnedAndOneInPlaceRefused) {
  without_locks(ENOLCK, [&] {
    EXPECT_TRUE(contains(ended(0, batch({"--png-level", "9", "--recursive"})).err,
                         "warning: " + out_ + ": this file system has no locks"));
    EXPECT_TRUE(results_in(out_) == expected_);
    const Files before = results_in(in_);
    out_ = in_;
    EXPECT_TRUE(contains(ended(2, batch({"--in-place", "--recursive"})).err, "has no locks"));
    EXPECT_TRUE(results_in(in_) == before);
  });
}

}  // namespace
}  // namespace gpufilter::test
