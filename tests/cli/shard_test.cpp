// Folders divided among processes, gathered, killed and retried.
#include <future>

#include <sys/wait.h>

#include "cli/batch_fixture.hpp"
#include "support/child_process.hpp"

namespace gpufilter::test {
namespace {

// --shard: one folder, several processes.

struct Shards : ShardTest {
  void SetUp() override {
    ShardTest::SetUp();
    put_many(5);
    put("large.png", {300, 200});
    put("sub/b.jpg", {60, 50});
    put("sub/c.png");
  }

  static std::size_t done(const Json& document) { return document["summary"]["done"]; }
};

TEST_F(Shards, TogetherMakeWhatOneRunMakes) {
  const Files expected = undisturbed({"--recursive"});
  std::mt19937 random(4);
  for (const int count : {1, 2, 3, 11}) {
    std::vector<int> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::size_t pictures = 0;
    for (const int index : order)
      pictures += done(json_shard(index, count, {"--recursive"}));
    EXPECT_EQ(pictures, 8U) << count;
    EXPECT_TRUE(pictures_in(out_) == expected) << count;
    fs::remove_all(out_);
  }
}

TEST_F(Shards, MayRunAtTheSameTime) {
  constexpr int count = 6;
  const Files expected = undisturbed({"--recursive"});
  for (int round = 0; round < 3; ++round) {
    std::vector<std::future<Json>> shards;
    for (int index = 0; index < count; ++index) {
      shards.push_back(std::async(
          std::launch::async, [&, index] { return json_shard(index, count, {"--recursive"}); }));
    }
    std::size_t pictures = 0;
    for (auto& result : shards)
      pictures += done(result.get());
    EXPECT_EQ(pictures, 8U);
    EXPECT_TRUE(pictures_in(out_) == expected);
    fs::remove_all(out_);
  }
}

TEST_F(Shards, SayWhatTheyTake) {
  const ProcessResult result = shard(1, 2, {"--recursive"});
  EXPECT_TRUE(begins(result.err, "gpufilter: shard 1/2: 7 of 8 pictures, 0.0 of "));
  EXPECT_TRUE(contains(result.err, " -> " + out_ + ": shard 1/2: 7 pictures done\n"));
  EXPECT_EQ(shard(1, 2, {"--recursive", "-q"}).err, "");
  const Json share = json_shard(0, 2, {"--recursive"})["shard"];
  EXPECT_EQ(share["index"], 0);
  EXPECT_EQ(share["count"], 2);
  EXPECT_EQ(share["source"], "--shard");
  EXPECT_EQ(share["pictures"], 1);
  EXPECT_EQ(share["all_pictures"], 8);
  EXPECT_EQ(share["input_bytes"], fs::file_size(in_ + "/large.png"));
  EXPECT_GT(share["all_input_bytes"], share["input_bytes"]);
}

TEST_F(Shards, AutoReadsTheScheduler) {
  const ProcessOptions first{.environment = {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}};
  const ProcessResult result = ended(0, batch({"--recursive", "--shard", "auto", "--json"}, first));
  EXPECT_TRUE(begins(result.err, "gpufilter: shard 0/2 from PMI_RANK 0 of 2: 1 of 8 pictures"));
  const Json share = Json::parse(result.out)["shard"];
  EXPECT_EQ(share["source"], "PMI_RANK 0 of 2");
  EXPECT_EQ(share["index"], 0);
  expect_refusal({"--shard", "auto"}, {"--shard auto: no scheduler", "--shard I/N"});
  const ProcessOptions both{.environment = {{"PMI_RANK", "0"},
                                            {"PMI_SIZE", "2"},
                                            {"OMPI_COMM_WORLD_RANK", "1"},
                                            {"OMPI_COMM_WORLD_SIZE", "2"}}};
  ended(2, batch({"--shard=auto"}, both));
}

// The shares divide the pictures that the first shard found.
TEST_F(Shards, AreOfTheListingThatTheRunBeganWith) {
  const Files expected = undisturbed({"--recursive"});
  std::size_t pictures = done(json_shard(0, 3, {"--recursive"}));
  put("huge.png", {900, 900});
  put("p102a.png");
  for (const int index : {2, 1, 0})
    pictures += done(json_shard(index, 3, {"--recursive"}));
  EXPECT_EQ(pictures, 8U);
  EXPECT_TRUE(pictures_in(out_) == expected);
}

TEST_F(Shards, APictureThatIsGoneFailsInOneOfThem) {
  static_cast<void>(json_shard(0, 3));
  for (const char* name : {"/p101.png", "/p102.png", "/p103.png", "/p104.png"})
    fs::remove(in_ + name);
  std::size_t failed = 0;
  for (int index = 0; index < 3; ++index) {
    const ProcessResult result = shard(index, 3, {"--json", "-q"});
    const std::size_t count = Json::parse(result.out)["summary"]["failed"];
    EXPECT_EQ(result.exit_code, count > 0 ? 1 : 0);
    failed += count;
  }
  EXPECT_EQ(failed, 4U);
}

TEST_F(Shards, EachRefusesCollisionsInTheWholeFolder) {
  put("p100.jpg");
  expect_refusal_in_each(3, {"--to", "png"},
                         {in_ + "/p100.jpg and " + in_ + "/p100.png: both would become"});
}

TEST_F(Shards, EachRefusesResultsThatExistedBefore) {
  fs::create_directory(out_);
  write_file(out_ + "/p103.png", "mine");
  expect_refusal_in_each(3, {}, {"/p103.png: already exists", "--on-exists"});
  std::size_t skipped = 0;
  for (int index = 0; index < 3; ++index) {
    skipped +=
        json_shard(index, 3, {"--on-exists", "skip"})["summary"]["exists"].get<std::size_t>();
  }
  EXPECT_EQ(skipped, 1U);
  EXPECT_EQ(read_file(out_ + "/p103.png"), "mine");
  // The files belong to this run from here on.
  run_shards(2, {"--on-exists", "overwrite"});
  EXPECT_TRUE(pictures_in(out_) == undisturbed());
}

TEST_F(Shards, EachRefusesToReplaceAnInput) {
  fs::create_directory(out_);
  fs::create_hard_link(in_ + "/p104.png", out_ + "/p100.png");
  expect_refusal_in_each(3, {"--on-exists", "overwrite"}, {"/p100.png: is an input of this run"});
}

TEST_F(Shards, AnEarlierRunIsReplacedOnlyWhereThatIsMeant) {
  ended(0, batch({"--border", "mirror"}));
  expect_refusal_in_each(2, {}, {"already exists"});
  run_shards(2, {"--resume"});
  EXPECT_TRUE(pictures_in(out_) == undisturbed());
}

TEST_F(Shards, GoOnWhereAnUndividedRunStopped) {
  ended(0, batch());
  fs::remove(out_ + "/p103.png");
  std::size_t pictures = 0;
  for (int index = 0; index < 4; ++index)
    pictures += done(json_shard(index, 4, {"--resume"}));
  EXPECT_EQ(pictures, 1U);
}

// Results whose journal was lost when the machine crashed.
TEST_F(Shards, ResultsThatAppearLaterAreTheirOwn) {
  ended(0, shard(0, 2));
  ended(0, shard(1, 2));
  for (const auto& entry : fs::directory_iterator(out_ + "/" + shards_name)) {
    if (entry.path().filename().string().starts_with("1-of-2-")) fs::remove(entry.path());
  }
  EXPECT_EQ(json_shard(0, 2)["summary"]["done"], 0);
  EXPECT_GT(done(json_shard(1, 2)), 0U);
  EXPECT_TRUE(pictures_in(out_) == undisturbed());
}

TEST_F(Shards, OfAnotherRunAreRefused) {
  ended(0, shard(0, 2));
  for (const Words& other :
       {Words{"--border", "mirror"}, Words{"--recursive"}, Words{"--to", "jpg"},
        Words{"--png-level", "9"}, Words{"--match", "p*"}}) {
    expect_refusal_in_each(
        2, other,
        {"holds an unfinished run in shards with other inputs", "gpufilter gather " + out_});
  }
  expect_refusal({}, {"holds an unfinished run in shards", "gpufilter gather " + out_, "--resume"});
  expect_refusal({"--on-exists", "overwrite"}, {"holds an unfinished run in shards"});
}

TEST_F(Shards, AreResumedWithAnotherNumberAndWithoutAny) {
  ended(0, shard(1, 3));
  const std::size_t first = pictures_in(out_).size();
  EXPECT_GT(first, 0U);
  EXPECT_LT(first, 6U);
  const Json second = json_shard(3, 4);
  EXPECT_EQ(first + done(second) + done(json_batch({"--resume"})), 6U);
  EXPECT_TRUE(pictures_in(out_) == undisturbed());
  for (int index = 0; index < 5; ++index)
    EXPECT_EQ(done(json_shard(index, 5, {"--resume"})), 0U);
}

TEST_F(Shards, ChangedInputsAreDoneAgain) {
  run_shards(2);
  write_png(random_image({37, 29}, format_, 77), in_ + "/p101.png");
  EXPECT_EQ(done(json_shard(0, 2)) + done(json_shard(1, 2)), 1U);
  EXPECT_TRUE(pictures_in(out_) == undisturbed());
}

TEST_F(Shards, ADryRunTouchesNothing) {
  const Files before = everything_in(folder_.path());
  EXPECT_EQ(json_shard(1, 2, {"--dry-run"})["summary"]["planned"], 5);
  EXPECT_EQ(everything_in(folder_.path()), before);
  ended(0, shard(1, 2));
  const Files after = everything_in(folder_.path());
  EXPECT_EQ(json_shard(1, 2, {"--dry-run"})["summary"]["unchanged"], 5);
  EXPECT_EQ(everything_in(folder_.path()), after);
}

TEST_F(Shards, NothingIsWrittenWhereTheDeviceIsMissing) {
  ended(3, filter({in_, out_, "--blur", "auto", "--device", "no such device", "--shard", "0/2"}));
  EXPECT_FALSE(fs::exists(out_));
  expect_refusal({"--shard", "2/2"}, {"--shard 2/2: shards are counted from 0"});
  expect_refusal({"--shard", "x"}, {"--shard x: is not a share; write I/N"});
  expect_failure(2, {in_ + "/p100.png", out_ + "/", "--shard", "0/2"},
                 {"--shard: is for one folder"});
  expect_failure(2, {in_, in_ + "/sub", out_ + "/", "--shard", "0/2"},
                 {"--shard: is for one folder"});
  expect_failure(2, {in_ + "/p100.png", folder_ / "o.png", "--shard", "0/2"}, {"--shard"});
  expect_failure(2, {in_, in_, "--in-place", "--shard", "0/2"},
                 {"--in-place: not possible with --shard"});
}

TEST_F(Shards, TheResultsMayLieInTheInput) {
  out_ = in_ + "/results";
  for (const int count : {2, 3})
    run_shards(count, {"--recursive"});
  EXPECT_EQ(pictures_in(out_).size(), 8U);
}

TEST_F(Shards, AnEmptyShareIsNoFailure) {
  const Json document = json_shard(19, 20);
  EXPECT_EQ(document["shard"]["pictures"], 0);
  EXPECT_TRUE(document["pictures"].empty());
  fs::remove_all(in_);
  fs::create_directory(in_);
  fs::remove_all(out_);
  EXPECT_TRUE(contains(shard(0, 2).err, "contains no picture"));
}

// gpufilter gather, after shards that the program ran.

struct GatherCommand : ShardTest {
  void SetUp() override {
    ShardTest::SetUp();
    put_many(7, {40, 30});
    put("sub/large.png", {90, 80});
  }

  [[nodiscard]] ProcessResult gather(const Words& more = {}) const {
    return filter(Words{"gather", out_} + more);
  }

  [[nodiscard]] Json json_gather(int exit_code) const {
    const ProcessResult result = ended(exit_code, gather({"--json"}));
    EXPECT_EQ(result.err, "");
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json["schema"], "gpufilter-gather-1");
    EXPECT_EQ(json["complete"], exit_code == 0);
    return json;
  }

  const Words recursive_{"--recursive", "-q"};
};

TEST_F(GatherCommand, LeavesTheFolderThatOneRunWouldHaveMade) {
  const Files expected = undisturbed({"--recursive"});
  run_shards(3, recursive_);
  const ProcessResult result = ended(0, gather());
  EXPECT_EQ(result.out, out_ + ": 8 pictures done; gathered from 3 processes\n");
  EXPECT_EQ(result.err, "");
  EXPECT_FALSE(fs::exists(fs::path(out_) / shards_name));
  EXPECT_TRUE(results_in(out_) == expected);
  EXPECT_EQ(gather().out, out_ + ": 8 pictures done; nothing to gather\n");
  ended(0, gather());
}

TEST_F(GatherCommand, OneRunKnowsWhatTheShardsDid) {
  run_shards(2, recursive_);
  ended(0, gather());
  const Json again = json_batch({"--recursive", "--resume"});
  EXPECT_EQ(again["summary"]["unchanged"], 8);
  EXPECT_EQ(again["summary"]["done"], 0);
}

TEST_F(GatherCommand, ItsCommandsDoTheRest) {
  const Files expected = undisturbed({"--recursive"});
  ended(0, shard(1, 3, recursive_));
  const Json json = json_gather(1);
  const std::size_t missing = json["missing"];
  EXPECT_GT(missing, 2U);
  EXPECT_EQ(json["unfinished"].size(), missing);
  EXPECT_EQ(json["pictures"], 8);
  EXPECT_EQ(json["done"], 8 - missing);
  ASSERT_EQ(json["commands"].size(), 2U);
  for (const auto& command : json["commands"]) {
    const ProcessResult result = run_process({"sh", "-c", command.get<std::string>()});
    EXPECT_EQ(result.exit_code, 0) << command << result.err;
  }
  EXPECT_EQ(json_gather(0)["gathered"], true);
  EXPECT_TRUE(results_in(out_) == expected);
}

TEST_F(GatherCommand, ListsFailuresInWords) {
  write_file(in_ + "/bad.png", "no picture");
  ended(1, shard(0, 1, recursive_));
  const ProcessResult result = ended(1, gather());
  EXPECT_TRUE(
      contains(result.out, ": 8 of 9 pictures done, 1 failed\nfailed: " + in_ + "/bad.png: "));
  expect_parts(result.out, {"to do the rest:\n  ", " --shard 0/1\n"});
  const Json json = json_gather(1);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["unfinished"][0]["status"], "failed");
  EXPECT_EQ(json["unfinished"][0]["input"], in_ + "/bad.png");
  EXPECT_EQ(json["unfinished"][0]["shard"], "0/1");
  put("bad.png");
  ended(0, shard(0, 1, recursive_));
  EXPECT_EQ(json_gather(0)["done"], 9);
}

TEST_F(GatherCommand, OfManyMissingPicturesTenAreListed) {
  put_many(30, {4, 3});
  ended(0, shard(0, 40, recursive_));
  const std::string text = gather().out;
  std::size_t lines = 0;
  for (std::size_t at = text.find("\nmissing: "); at != std::string::npos;
       at = text.find("\nmissing: ", at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, 11U) << text;
  EXPECT_TRUE(contains(text, " more (--json lists all)\n"));
  EXPECT_GT(json_gather(1)["commands"].size(), 10U);
}

TEST_F(GatherCommand, CountsWhatSkippedAndWhatToMakes) {
  fs::create_directory(out_);
  run_shards(2, {"--recursive", "-q", "--to", "jpg"});
  EXPECT_EQ(json_gather(0)["done"], 8);
  fs::remove(fs::path(out_) / "sub/large.jpg");
  write_file(out_ + "/sub/large.jpg", "of someone else");
  run_shards(2, {"--recursive", "-q", "--to", "jpg", "--on-exists", "skip"});
  EXPECT_EQ(json_gather(0)["done"], 8);
  EXPECT_EQ(read_file(out_ + "/sub/large.jpg"), "of someone else");
}

TEST_F(GatherCommand, RefusesWhatItCannotGather) {
  expect_failure(2, {"gather", out_}, {out_, "does not exist"});
  fs::create_directory(out_);
  expect_failure(2, {"gather", out_}, {out_, "gpufilter has not written to this folder"});
  expect_failure(2, {"gather"}, {"OUTDIR"});
  expect_failure(2, {"gather", in_ + "/sub/large.png"}, {"is not a folder"});
  EXPECT_TRUE(fs::is_empty(out_));
}

// Shards that are killed, stopped and retried, on file systems with and without locks.

struct ShardEnds : ShardTest {
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

  [[nodiscard]] Words quietly() const { return options_ + Words{"-q"}; }

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
  const Words words = command(quietly());
  StoppedShard first(words + Words{"--shard", "0/2"}, [&] { return temporary_files() > 0; });
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
  // Interrupts the run once 5 of 25 pictures are done.
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
