// Plans the work of a process that takes a share of a folder.
#pragma once

#include "batch/batch_plan.hpp"

namespace gpufilter {

// The plan for the shard of `request`. The first process of a run lists the pictures and checks the
// whole folder. Later ones find the run in the output folder and take its listing and the records
// that they need from its journals. Throws as make_batch_plan() does, and UsageError if the folder
// holds another run.
[[nodiscard]] BatchPlan make_shard_plan(const BatchRequest& request);

// Begins the run in the output folder if it has not begun. If another process has begun it
// meanwhile, returns a plan for that process's listing. Throws as make_shard_plan() does.
[[nodiscard]] BatchPlan join_run(const BatchRequest& request, BatchPlan plan);

// All records of the folder: its own journal and those of the shards of an unfinished run. Used by
// an undivided run. Throws PictureError.
[[nodiscard]] KnownRecords records_of_everyone(const std::string& output);

}  // namespace gpufilter
