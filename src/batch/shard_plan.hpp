// The plan of a process that takes a share of a folder.
#pragma once

#include "batch/batch_plan.hpp"

namespace gpufilter {

// The plan for the shard of `request`. The first process of a run lists the pictures and checks the
// whole folder; those that find the run in the folder of the results take its listing, and what
// they need of its journals. Throws as make_batch_plan() does, and UsageError where the folder
// holds another run.
[[nodiscard]] BatchPlan make_shard_plan(const BatchRequest& request);

// Begins the run in the folder of the results, unless it has begun. Where another process did so
// meanwhile, the plan follows it. Throws as make_shard_plan() does.
[[nodiscard]] BatchPlan join_run(const BatchRequest& request, BatchPlan plan);

// What the unfinished processes of the folder's run and earlier runs have recorded, for a run that
// is not divided. Throws PictureError.
[[nodiscard]] KnownRecords records_of_everyone(const std::string& output);

}  // namespace gpufilter
