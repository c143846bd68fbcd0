// Divides a folder among processes that do not communicate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

// One of `count` shares, numbered from 0 like MPI ranks and the tasks of most schedulers.
struct Shard {
  std::uint32_t index = 0;
  std::uint32_t count = 1;

  bool operator==(const Shard&) const = default;
};

inline constexpr std::uint32_t max_shards = 1'000'000;

// "3/10", and back. Throws UsageError if the text is not a shard or, like 10/10, is out of range.
[[nodiscard]] std::string to_string(const Shard& shard);
[[nodiscard]] Shard parse_shard(std::string_view text);

// The properties of a picture that decide its share.
struct SizedName {
  std::string_view name;
  std::uint64_t bytes = 0;
};

// The index of each picture's shard, in the order of `pictures`, whose names have to differ;
// `count` is at least 1. Pictures are assigned by size, the largest first (equal sizes by name),
// each to the shard with the fewest bytes so far (ties: fewest pictures, then lowest index):
// "longest processing time first", R. L. Graham, Bounds on Multiprocessing Timing Anomalies, 1969.
// Two shards differ by at most the size of the largest picture. The order of `pictures` does not
// matter.
[[nodiscard]] std::vector<std::uint32_t> assign_shards(std::span<const SizedName> pictures,
                                                       std::uint32_t count);

using Environment = std::map<std::string, std::string>;  // variables: name to value

struct DetectedShard {
  Shard shard;
  std::string source;  // the variables that give the share, with their values
};

// An array of jobs (Slurm's SLURM_ARRAY_TASK_ID with _MIN, _MAX, _STEP and _COUNT; or Kubernetes'
// JOB_COMPLETION_INDEX with JOB_COMPLETIONS, which the job sets) and the processes of a job
// (Slurm's SLURM_PROCID with SLURM_STEP_NUM_TASKS or SLURM_NTASKS; OMPI_COMM_WORLD_RANK and _SIZE;
// PMI_RANK and PMI_SIZE; PMIX_RANK, with PMIX_SIZE if nothing else gives the count; GNU parallel's
// PARALLEL_SEQ with PARALLEL_COUNT, which the call sets to {##}). If there are both, each job's
// share is divided among its processes. Throws UsageError, with a remedy, if no variable is set, a
// count is missing, or variables contradict each other.
[[nodiscard]] DetectedShard detect_shard(const Environment& environment);

}  // namespace gpufilter
