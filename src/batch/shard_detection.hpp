// Finds a process's share of the work in the environment variables that its scheduler sets.
#pragma once

#include <map>
#include <string>

#include "batch/shard.hpp"

namespace gpufilter {

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
