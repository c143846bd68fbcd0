// An input with the result that it is to become.
#pragma once

#include <filesystem>

#include "batch/batch_plan.hpp"
#include "batch/folder_scan.hpp"

namespace gpufilter {

// `found` in `folder`, for the plan of `request`. `in_place`: the folder is that of the results.
// Throws UsageError where no name says the format of the result.
[[nodiscard]] BatchItem plan_item(const BatchRequest& request, FoundFile found,
                                  const std::filesystem::path& folder, bool in_place);

// The pictures that the request's list names, without those that lie in the folder of the results.
// Throws as read_picture_list() does.
[[nodiscard]] PictureList listed_pictures(const BatchRequest& request);

}  // namespace gpufilter
