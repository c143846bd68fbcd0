// Which share of the work the surroundings give a process, by the variables of its scheduler.
#pragma once

#include <map>
#include <string>

#include "batch/shard.hpp"

namespace gpufilter {

using Environment = std::map<std::string, std::string>;  // values by the names of variables

struct DetectedShard {
  Shard shard;
  std::string source;  // the variables that say so, with their values
};

// An array of jobs (Slurm's SLURM_ARRAY_TASK_ID with _MIN, _MAX, _STEP and _COUNT; or Kubernetes'
// JOB_COMPLETION_INDEX with JOB_COMPLETIONS, which the job sets) and the processes of a job
// (Slurm's SLURM_PROCID with SLURM_STEP_NUM_TASKS or SLURM_NTASKS; OMPI_COMM_WORLD_RANK and _SIZE;
// PMI_RANK and PMI_SIZE; PMIX_RANK, with PMIX_SIZE where nothing else counts; GNU parallel's
// PARALLEL_SEQ with PARALLEL_COUNT, which the call sets to {##}). Where there are both, each job's
// share is divided between its processes. Throws UsageError, with a remedy, where no variable is
// set, where a count is missing, and where variables contradict each other.
[[nodiscard]] DetectedShard detect_shard(const Environment& environment);

}  // namespace gpufilter
