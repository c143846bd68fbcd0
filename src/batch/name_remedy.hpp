// What to do if two pictures would have the same output.
#pragma once

#include <string>

#include "batch/batch_plan.hpp"

namespace gpufilter {

// A --name that gives each of the plan's results a name of its own, in a phrase that tells the user
// so; if there is none, that a file has to be renamed.
[[nodiscard]] std::string collision_remedy(const BatchRequest& request, const BatchPlan& plan);

}  // namespace gpufilter
