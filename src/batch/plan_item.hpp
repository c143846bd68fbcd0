// Pairs an input with its output.
#pragma once

#include <filesystem>

#include "batch/batch_plan.hpp"
#include "batch/folder_scan.hpp"

namespace gpufilter {

// The item for `found` in `folder`. `in_place`: the folder is also the output folder. Throws
// UsageError if neither the request nor the name gives the format of the result.
[[nodiscard]] BatchItem plan_item(const BatchRequest& request, FoundFile found,
                                  const std::filesystem::path& folder, bool in_place);

// A picture of another format that a list of `folder` names.
[[nodiscard]] OtherPicture other_picture(const std::filesystem::path& folder,
                                         const SizedName& listed);

// The pictures in the request's list, without those in the output folder. Throws as
// read_picture_list() does.
[[nodiscard]] PictureList listed_pictures(const BatchRequest& request);

}  // namespace gpufilter
