// Shards: the division of a folder, the schedulers that number processes, and the files of a run.
#include "batch/shard.hpp"

#include "base/process.hpp"
#include "batch/shard_run.hpp"
#include "support/child_process.hpp"

namespace gpufilter {
namespace {

using Names = std::vector<std::string>;

struct Folder {
  Names names;
  std::vector<std::uint64_t> bytes;

  [[nodiscard]] std::vector<SizedName> pictures() const {
    std::vector<SizedName> all;
    for (std::size_t i = 0; i < names.size(); ++i)
      all.push_back({names[i], bytes[i]});
    return all;
  }
};

// Sizes from one of several distributions; unique names of arbitrary bytes.
Folder random_folder(std::mt19937& random) {
  Folder folder;
  const auto count = std::uniform_int_distribution<std::size_t>(0, 300)(random);
  const int kind = std::uniform_int_distribution<>(0, 3)(random);
  for (std::size_t i = 0; i < count; ++i) {
    std::string name(std::uniform_int_distribution<std::size_t>(1, 20)(random), ' ');
    for (char& c : name)
      c = static_cast<char>(std::uniform_int_distribution<>(1, 255)(random));
    folder.names.push_back(name + std::to_string(i));
    const double u = std::uniform_real_distribution<>(0, 1)(random);
    folder.bytes.push_back(kind == 0   ? 7
                           : kind == 1 ? static_cast<std::uint64_t>(u * 1000)
                           : kind == 2 ? static_cast<std::uint64_t>(1 / (u * u + 1e-9))
                                       : 0);
  }
  return folder;
}

struct Loads {
  std::vector<std::uint64_t> bytes;
  std::vector<std::size_t> pictures;
};

Loads loads_of(const Folder& folder, const std::vector<std::uint32_t>& shards,
               std::uint32_t count) {
  Loads loads{std::vector<std::uint64_t>(count), std::vector<std::size_t>(count)};
  for (std::size_t i = 0; i < shards.size(); ++i) {
    loads.bytes.at(shards[i]) += folder.bytes[i];
    ++loads.pictures.at(shards[i]);
  }
  return loads;
}

TEST(Shards, AreBalancedWithinTheLargestPicture) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Folder folder = random_folder(random);
    const auto count = std::uniform_int_distribution<std::uint32_t>(1, 40)(random);
    const auto shards = assign_shards(folder.pictures(), count);
    ASSERT_EQ(shards.size(), folder.names.size());
    const Loads loads = loads_of(folder, shards, count);  // each picture has one shard below count
    const auto [least, most] = std::minmax_element(loads.bytes.begin(), loads.bytes.end());
    const std::uint64_t largest =
        folder.bytes.empty() ? 0 : *std::max_element(folder.bytes.begin(), folder.bytes.end());
    EXPECT_LE(*most - *least, largest) << "round " << round;
    if (largest == 0) {
      const auto [few, many] = std::minmax_element(loads.pictures.begin(), loads.pictures.end());
      EXPECT_LE(*many - *few, 1U) << "round " << round;
    }
  }
}

TEST(Shards, DoNotDependOnTheOrderOfTheListing) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const Folder folder = random_folder(random);
    auto pictures = folder.pictures();
    std::map<std::string_view, std::uint32_t> expected;
    const auto shards = assign_shards(pictures, 7);
    for (std::size_t i = 0; i < pictures.size(); ++i)
      expected[pictures[i].name] = shards[i];
    std::shuffle(pictures.begin(), pictures.end(), random);
    const auto again = assign_shards(pictures, 7);
    for (std::size_t i = 0; i < pictures.size(); ++i)
      EXPECT_EQ(again[i], expected.at(pictures[i].name)) << "round " << round;
  }
}

// The division must never change: a later build may retry a shard.
TEST(Shards, FollowTheDocumentedRuleAndAreWrittenAndRead) {
  const std::vector<SizedName> pictures{{"e", 5}, {"a", 1}, {"d", 5}, {"c", 3}, {"b", 1}, {"f", 0}};
  // d 5 to 0, e 5 to 1, c 3 to 2, a 1 to 2, b 1 to 2, f 0 to 0 (of those with five bytes).
  EXPECT_EQ(assign_shards(pictures, 3), (std::vector<std::uint32_t>{1, 2, 0, 2, 2, 0}));
  EXPECT_EQ(assign_shards(pictures, 1), std::vector<std::uint32_t>(6, 0));
  EXPECT_EQ(assign_shards({}, 4), std::vector<std::uint32_t>{});
  EXPECT_EQ(to_string(Shard{3, 10}), "3/10");
  EXPECT_EQ(parse_shard("3/10"), (Shard{3, 10}));
  EXPECT_EQ(parse_shard("0/1"), (Shard{0, 1}));
  EXPECT_EQ(parse_shard("999999/1000000"), (Shard{999999, 1000000}));
}

std::string refusal_of_shard(const std::string& text) {
  try {
    return "accepted as " + to_string(parse_shard(text));
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Shards, MalformedTextsAreRefused) {
  for (const char* text : {"", "3", "/", "3/", "/10", "-1/10", "1/0", "0/0", " 1/2", "1/2 ",
                           "1/2/3", "a/b", "1/1000001", "0x1/2", "99999999999/99999999999"}) {
    EXPECT_TRUE(test::contains(refusal_of_shard(text), "write I/N, as in 0/8 to 7/8"))
        << text << ": " << refusal_of_shard(text);
  }
  EXPECT_EQ(refusal_of_shard("10/10"),
            "--shard 10/10: shards are counted from 0; the last of 10 is 9/10");
}

// The environment that "NAME=value NAME=value" describes.
Environment environment_of(const std::string& text) {
  Environment environment;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    environment[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return environment;
}

struct Found {
  std::string name;
  std::string environment;
  std::string shard;
  std::string source;
};

const std::vector<Found>& found() {
  static const std::vector<Found> table{
      {"an array from 0",
       "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=7 "
       "SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_STEP=1",
       "3/8", "SLURM_ARRAY_TASK_ID 3 (0 to 7)"},
      {"an array from 10",
       "SLURM_ARRAY_TASK_ID=17 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_MAX=17 "
       "SLURM_ARRAY_TASK_COUNT=8",
       "7/8", "SLURM_ARRAY_TASK_ID 17 (10 to 17)"},
      {"an array with a step",
       "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=13 "
       "SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_STEP=4",
       "2/4", "SLURM_ARRAY_TASK_ID 9 (1 to 13 in steps of 4)"},
      {"an array whose last number no task has",
       "SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=9 "
       "SLURM_ARRAY_TASK_STEP=4",
       "2/3", "SLURM_ARRAY_TASK_ID 8 (0 to 9 in steps of 4)"},
      {"the processes of a step", "SLURM_PROCID=1 SLURM_NTASKS=4", "1/4", "SLURM_PROCID 1 of 4"},
      {"a step of a larger job",
       "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=2", "1/2",
       "SLURM_PROCID 1 of 2"},
      {"steps of an array",
       "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=3 SLURM_JOB_ID=7 "
       "SLURM_STEP_ID=0 SLURM_PROCID=3 SLURM_NTASKS=4",
       "7/12", "SLURM_ARRAY_TASK_ID 2 (1 to 3), SLURM_PROCID 3 of 4"},
      {"the batch script of an array",
       "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=3 SLURM_JOB_ID=7 "
       "SLURM_PROCID=0 SLURM_NTASKS=1",
       "1/3", "SLURM_ARRAY_TASK_ID 2 (1 to 3)"},
      {"the same where tasks were not asked for",
       "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=3 SLURM_JOB_ID=7 "
       "SLURM_PROCID=0",
       "1/3", "SLURM_ARRAY_TASK_ID 2 (1 to 3)"},
      {"Kubernetes", "JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=5", "0/5",
       "JOB_COMPLETION_INDEX 0 of 5"},
      {"OpenMPI", "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=2", "2/4",
       "OMPI_COMM_WORLD_RANK 2 of 4, PMIX_RANK 2"},
      {"MPICH", "PMI_RANK=0 PMI_SIZE=2", "0/2", "PMI_RANK 0 of 2"},
      {"PMIx with a count", "PMIX_RANK=5 PMIX_SIZE=6", "5/6", "PMIX_RANK 5 of 6"},
      {"srun with PMIx", "PMIX_RANK=1 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=4", "1/4",
       "PMIX_RANK 1, SLURM_PROCID 1 of 4"},
      {"mpirun in a batch script",
       "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4",
       "3/4", "OMPI_COMM_WORLD_RANK 3 of 4"},
      {"GNU parallel, which counts from 1", "PARALLEL_SEQ=8 PARALLEL_COUNT=8 PARALLEL_JOBSLOT=2",
       "7/8", "PARALLEL_SEQ 8 of 8"},
      {"an indexed job whose pods use MPI",
       "JOB_COMPLETION_INDEX=1 JOB_COMPLETIONS=2 PMI_RANK=2 PMI_SIZE=3", "5/6",
       "JOB_COMPLETION_INDEX 1 of 2, PMI_RANK 2 of 3"},
      {"variables that do not matter", "PATH=/bin SLURM_JOB_ID=x PMI_RANK=0 PMI_SIZE=1", "0/1",
       "PMI_RANK 0 of 1"}};
  return table;
}

TEST(ShardDetection, FindsTheShare) {
  for (const Found& row : found()) {
    SCOPED_TRACE(row.name);
    const DetectedShard detected = detect_shard(environment_of(row.environment));
    EXPECT_EQ(to_string(detected.shard), row.shard);
    EXPECT_EQ(detected.source, row.source);
  }
}

struct Refused {
  std::string name;
  std::string environment;
  std::string reason;  // a part of it
};

const std::vector<Refused>& refused() {
  static const std::vector<Refused> table{
      {"nothing", "PATH=/bin", "no scheduler has set its variables"},
      {"a job of one process", "SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=1",
       "no scheduler has set its variables"},
      {"a batch script without srun", "SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4",
       "the batch script of a Slurm job with 4 tasks; start gpufilter with srun"},
      {"the same in an array",
       "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=1 SLURM_JOB_ID=7 "
       "SLURM_PROCID=0 SLURM_NTASKS=4",
       "start gpufilter with srun"},
      {"an array with gaps",
       "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 "
       "SLURM_ARRAY_TASK_COUNT=3",
       "SLURM_ARRAY_TASK_COUNT 3: the array has gaps"},
      {"a task between the steps",
       "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=8 "
       "SLURM_ARRAY_TASK_STEP=4",
       "the array has gaps"},
      {"a task outside the array",
       "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=8", "the array has gaps"},
      {"a step of none",
       "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=8 "
       "SLURM_ARRAY_TASK_STEP=0",
       "SLURM_ARRAY_TASK_ID 0 (0 to 8 in steps of 0)"},
      {"an array without bounds", "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=8",
       "without SLURM_ARRAY_TASK_MIN"},
      {"Kubernetes without a count", "JOB_COMPLETION_INDEX=1",
       "set JOB_COMPLETIONS to the job's completions"},
      {"more pods than completions", "JOB_COMPLETION_INDEX=5 JOB_COMPLETIONS=5",
       "this is not one of 5"},
      {"a rank of none", "PMI_RANK=0 PMI_SIZE=0", "this is not one of 0"},
      {"a rank without a count", "PMIX_RANK=1", "PMIX_RANK 1 is set without a count"},
      {"a process without a count", "SLURM_PROCID=2", "without SLURM_NTASKS"},
      {"GNU parallel without a count", "PARALLEL_SEQ=1", "env PARALLEL_COUNT={##} gpufilter"},
      {"GNU parallel before the first", "PARALLEL_SEQ=0 PARALLEL_COUNT=4", "this is not one of 4"},
      {"two arrays",
       "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=1 JOB_COMPLETION_INDEX=1 "
       "JOB_COMPLETIONS=2",
       "contradict each other"},
      {"ranks that differ",
       "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 SLURM_STEP_ID=0 SLURM_PROCID=1 "
       "SLURM_NTASKS=4",
       "OMPI_COMM_WORLD_RANK 2 of 4 and SLURM_PROCID 1 of 4 contradict each other"},
      {"counts that differ", "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 PMI_RANK=1 PMI_SIZE=8",
       "contradict each other"},
      {"words", "PMI_RANK=one PMI_SIZE=2", "PMI_RANK is 'one', which is not a whole"},
      {"an empty value", "PMI_RANK=1 PMI_SIZE=", "PMI_SIZE is ''"},
      {"a negative one", "PMI_RANK=-1 PMI_SIZE=2", "PMI_RANK is '-1'"},
      {"far too many",
       "JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=4000000000 PMI_RANK=0 PMI_SIZE=4000000000",
       "shards are too many; the limit is 1000000"}};
  return table;
}

TEST(ShardDetection, RefusesContradictionsAndMissingVariables) {
  for (const Refused& row : refused()) {
    SCOPED_TRACE(row.name);
    try {
      ADD_FAILURE() << "accepted as "
                    << to_string(detect_shard(environment_of(row.environment)).shard);
    } catch (const UsageError& error) {
      const std::string text = error.what();
      EXPECT_TRUE(test::contains(text, row.reason));
      EXPECT_TRUE(text.starts_with("--shard auto: ")) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  }
}

// Each process of a job gets a different shard.
TEST(ShardDetection, ArraysAndStepsTogetherGiveEveryShareOnce) {
  std::vector<int> times(15);
  for (int task = 3; task <= 7; ++task) {
    for (int process = 0; process < 3; ++process) {
      const Shard shard = detect_shard({{"SLURM_ARRAY_TASK_ID", std::to_string(task)},
                                        {"SLURM_ARRAY_TASK_MIN", "3"},
                                        {"SLURM_ARRAY_TASK_MAX", "7"},
                                        {"SLURM_ARRAY_TASK_COUNT", "5"},
                                        {"SLURM_PROCID", std::to_string(process)},
                                        {"SLURM_NTASKS", "3"}})
                              .shard;
      EXPECT_EQ(shard.count, 15U);
      ++times.at(shard.index);
    }
  }
  EXPECT_EQ(times, std::vector<int>(15, 1));
}

namespace fs = std::filesystem;

struct ShardRuns : ::testing::Test {
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

TEST_F(ShardRuns, AreReadBackAndTheFirstOneIsKept) {
  EXPECT_FALSE(read_shard_run(folder_.path()));
  EXPECT_EQ(publish_shard_run(folder_.path(), run(1), listing_), run(1));
  EXPECT_EQ(read_shard_run(folder_.path()), run(1));
  EXPECT_EQ(read_run_listing(folder_.path(), run(1)).text(), listing_.text());
  EXPECT_EQ(test::names_in(shards_).size(), 2U) << "the run and its listing, nothing else";
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
    begin_shard_journal(folder_.path(), {0, 2})->add("a.png", {});
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
