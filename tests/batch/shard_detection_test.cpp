#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "batch/shard.hpp"

namespace gpufilter {
namespace {

struct Found {
  std::string name;
  Environment environment;
  std::string shard;
  std::string source;
};

const std::vector<Found>& found() {
  static const std::vector<Found> table{
      {"an array from 0",
       {{"SLURM_ARRAY_TASK_ID", "3"},
        {"SLURM_ARRAY_TASK_MIN", "0"},
        {"SLURM_ARRAY_TASK_MAX", "7"},
        {"SLURM_ARRAY_TASK_COUNT", "8"},
        {"SLURM_ARRAY_TASK_STEP", "1"}},
       "3/8",
       "SLURM_ARRAY_TASK_ID 3 (0 to 7)"},
      {"an array from 10",
       {{"SLURM_ARRAY_TASK_ID", "17"},
        {"SLURM_ARRAY_TASK_MIN", "10"},
        {"SLURM_ARRAY_TASK_MAX", "17"},
        {"SLURM_ARRAY_TASK_COUNT", "8"}},
       "7/8",
       "SLURM_ARRAY_TASK_ID 17 (10 to 17)"},
      {"an array with a step",
       {{"SLURM_ARRAY_TASK_ID", "9"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "13"},
        {"SLURM_ARRAY_TASK_COUNT", "4"},
        {"SLURM_ARRAY_TASK_STEP", "4"}},
       "2/4",
       "SLURM_ARRAY_TASK_ID 9 (1 to 13 in steps of 4)"},
      {"an array whose last number no task has",
       {{"SLURM_ARRAY_TASK_ID", "8"},
        {"SLURM_ARRAY_TASK_MIN", "0"},
        {"SLURM_ARRAY_TASK_MAX", "9"},
        {"SLURM_ARRAY_TASK_STEP", "4"}},
       "2/3",
       "SLURM_ARRAY_TASK_ID 8 (0 to 9 in steps of 4)"},
      {"the processes of a step",
       {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}},
       "1/4",
       "SLURM_PROCID 1 of 4"},
      {"a step of a larger job",
       {{"SLURM_JOB_ID", "7"},
        {"SLURM_STEP_ID", "0"},
        {"SLURM_PROCID", "1"},
        {"SLURM_NTASKS", "8"},
        {"SLURM_STEP_NUM_TASKS", "2"}},
       "1/2",
       "SLURM_PROCID 1 of 2"},
      {"steps of an array",
       {{"SLURM_ARRAY_TASK_ID", "2"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "3"},
        {"SLURM_JOB_ID", "7"},
        {"SLURM_STEP_ID", "0"},
        {"SLURM_PROCID", "3"},
        {"SLURM_NTASKS", "4"}},
       "7/12",
       "SLURM_ARRAY_TASK_ID 2 (1 to 3), SLURM_PROCID 3 of 4"},
      {"the batch script of an array",
       {{"SLURM_ARRAY_TASK_ID", "2"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "3"},
        {"SLURM_JOB_ID", "7"},
        {"SLURM_PROCID", "0"},
        {"SLURM_NTASKS", "1"}},
       "1/3",
       "SLURM_ARRAY_TASK_ID 2 (1 to 3)"},
      {"the same where tasks were not asked for",
       {{"SLURM_ARRAY_TASK_ID", "2"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "3"},
        {"SLURM_JOB_ID", "7"},
        {"SLURM_PROCID", "0"}},
       "1/3",
       "SLURM_ARRAY_TASK_ID 2 (1 to 3)"},
      {"Kubernetes",
       {{"JOB_COMPLETION_INDEX", "0"}, {"JOB_COMPLETIONS", "5"}},
       "0/5",
       "JOB_COMPLETION_INDEX 0 of 5"},
      {"OpenMPI",
       {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "2"}},
       "2/4",
       "OMPI_COMM_WORLD_RANK 2 of 4, PMIX_RANK 2"},
      {"MPICH", {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, "0/2", "PMI_RANK 0 of 2"},
      {"PMIx with a count", {{"PMIX_RANK", "5"}, {"PMIX_SIZE", "6"}}, "5/6", "PMIX_RANK 5 of 6"},
      {"srun with PMIx",
       {{"PMIX_RANK", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}},
       "1/4",
       "PMIX_RANK 1, SLURM_PROCID 1 of 4"},
      {"mpirun in a batch script",
       {{"OMPI_COMM_WORLD_RANK", "3"},
        {"OMPI_COMM_WORLD_SIZE", "4"},
        {"SLURM_JOB_ID", "7"},
        {"SLURM_PROCID", "0"},
        {"SLURM_NTASKS", "4"}},
       "3/4",
       "OMPI_COMM_WORLD_RANK 3 of 4"},
      {"GNU parallel, which counts from 1",
       {{"PARALLEL_SEQ", "8"}, {"PARALLEL_COUNT", "8"}, {"PARALLEL_JOBSLOT", "2"}},
       "7/8",
       "PARALLEL_SEQ 8 of 8"},
      {"an indexed job whose pods use MPI",
       {{"JOB_COMPLETION_INDEX", "1"},
        {"JOB_COMPLETIONS", "2"},
        {"PMI_RANK", "2"},
        {"PMI_SIZE", "3"}},
       "5/6",
       "JOB_COMPLETION_INDEX 1 of 2, PMI_RANK 2 of 3"},
      {"variables that do not matter",
       {{"PATH", "/bin"}, {"SLURM_JOB_ID", "x"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "1"}},
       "0/1",
       "PMI_RANK 0 of 1"},
  };
  return table;
}

TEST(ShardDetection, FindsTheShare) {
  for (const Found& row : found()) {
    SCOPED_TRACE(row.name);
    const DetectedShard detected = detect_shard(row.environment);
    EXPECT_EQ(to_string(detected.shard), row.shard);
    EXPECT_EQ(detected.source, row.source);
  }
}

struct Refused {
  std::string name;
  Environment environment;
  std::string reason;  // a part of it
};

const std::vector<Refused>& refused() {
  static const std::vector<Refused> table{
      {"nothing", {{"PATH", "/bin"}}, "no scheduler has set its variables"},
      {"a job of one process",
       {{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}},
       "no scheduler has set its variables"},
      {"a batch script without srun",
       {{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}},
       "the batch script of a Slurm job with 4 tasks; start gpufilter with srun"},
      {"the same in an array",
       {{"SLURM_ARRAY_TASK_ID", "0"},
        {"SLURM_ARRAY_TASK_MIN", "0"},
        {"SLURM_ARRAY_TASK_MAX", "1"},
        {"SLURM_JOB_ID", "7"},
        {"SLURM_PROCID", "0"},
        {"SLURM_NTASKS", "4"}},
       "start gpufilter with srun"},
      {"an array with gaps",
       {{"SLURM_ARRAY_TASK_ID", "5"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "7"},
        {"SLURM_ARRAY_TASK_COUNT", "3"}},
       "SLURM_ARRAY_TASK_COUNT 3: the array has gaps"},
      {"a task between the steps",
       {{"SLURM_ARRAY_TASK_ID", "2"},
        {"SLURM_ARRAY_TASK_MIN", "0"},
        {"SLURM_ARRAY_TASK_MAX", "8"},
        {"SLURM_ARRAY_TASK_STEP", "4"}},
       "the array has gaps"},
      {"a task outside the array",
       {{"SLURM_ARRAY_TASK_ID", "9"}, {"SLURM_ARRAY_TASK_MIN", "0"}, {"SLURM_ARRAY_TASK_MAX", "8"}},
       "the array has gaps"},
      {"a step of none",
       {{"SLURM_ARRAY_TASK_ID", "0"},
        {"SLURM_ARRAY_TASK_MIN", "0"},
        {"SLURM_ARRAY_TASK_MAX", "8"},
        {"SLURM_ARRAY_TASK_STEP", "0"}},
       "SLURM_ARRAY_TASK_ID 0 (0 to 8 in steps of 0)"},
      {"an array without bounds",
       {{"SLURM_ARRAY_TASK_ID", "5"}, {"SLURM_ARRAY_TASK_COUNT", "8"}},
       "without SLURM_ARRAY_TASK_MIN"},
      {"Kubernetes without a count",
       {{"JOB_COMPLETION_INDEX", "1"}},
       "set JOB_COMPLETIONS to the job's completions"},
      {"more pods than completions",
       {{"JOB_COMPLETION_INDEX", "5"}, {"JOB_COMPLETIONS", "5"}},
       "this is not one of 5"},
      {"a rank of none", {{"PMI_RANK", "0"}, {"PMI_SIZE", "0"}}, "this is not one of 0"},
      {"a rank without a count", {{"PMIX_RANK", "1"}}, "PMIX_RANK 1 is set without a count"},
      {"a process without a count", {{"SLURM_PROCID", "2"}}, "without SLURM_NTASKS"},
      {"GNU parallel without a count",
       {{"PARALLEL_SEQ", "1"}},
       "env PARALLEL_COUNT={##} gpufilter"},
      {"GNU parallel before the first",
       {{"PARALLEL_SEQ", "0"}, {"PARALLEL_COUNT", "4"}},
       "this is not one of 4"},
      {"two arrays",
       {{"SLURM_ARRAY_TASK_ID", "0"},
        {"SLURM_ARRAY_TASK_MIN", "0"},
        {"SLURM_ARRAY_TASK_MAX", "1"},
        {"JOB_COMPLETION_INDEX", "1"},
        {"JOB_COMPLETIONS", "2"}},
       "contradict each other"},
      {"ranks that differ",
       {{"OMPI_COMM_WORLD_RANK", "2"},
        {"OMPI_COMM_WORLD_SIZE", "4"},
        {"SLURM_STEP_ID", "0"},
        {"SLURM_PROCID", "1"},
        {"SLURM_NTASKS", "4"}},
       "OMPI_COMM_WORLD_RANK 2 of 4 and SLURM_PROCID 1 of 4 contradict each other"},
      {"counts that differ",
       {{"OMPI_COMM_WORLD_RANK", "1"},
        {"OMPI_COMM_WORLD_SIZE", "4"},
        {"PMI_RANK", "1"},
        {"PMI_SIZE", "8"}},
       "contradict each other"},
      {"words",
       {{"PMI_RANK", "one"}, {"PMI_SIZE", "2"}},
       "PMI_RANK is 'one', which is not a whole"},
      {"an empty value", {{"PMI_RANK", "1"}, {"PMI_SIZE", ""}}, "PMI_SIZE is ''"},
      {"a negative one", {{"PMI_RANK", "-1"}, {"PMI_SIZE", "2"}}, "PMI_RANK is '-1'"},
      {"far too many",
       {{"JOB_COMPLETION_INDEX", "0"},
        {"JOB_COMPLETIONS", "4000000000"},
        {"PMI_RANK", "0"},
        {"PMI_SIZE", "4000000000"}},
       "shards are too many; the limit is 1000000"},
  };
  return table;
}

TEST(ShardDetection, RefusesContradictionsAndMissingVariables) {
  for (const Refused& row : refused()) {
    SCOPED_TRACE(row.name);
    try {
      ADD_FAILURE() << "accepted as " << to_string(detect_shard(row.environment).shard);
    } catch (const UsageError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(row.reason), std::string::npos) << text;
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

}  // namespace
}  // namespace gpufilter
