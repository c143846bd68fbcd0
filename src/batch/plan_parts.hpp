// What plans are made of: inputs with their outputs, and checks of outputs that collide or already
// exist.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>

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

// Paths without links, also of files that do not exist yet.
class Places {
 public:
  [[nodiscard]] std::string of(const std::string& path);
  // The identity of a file that is known not to exist.
  [[nodiscard]] std::string of_new(const std::string& path);

 private:
  std::unordered_map<std::string, std::filesystem::path> folders_;
};

// Throws UsageError if two outputs of the plan are the same file.
void check_collisions(const BatchRequest& request, const BatchPlan& plan);

// Of the inputs that can be read.
[[nodiscard]] std::set<FileIdentity> identities_of(const BatchPlan& plan);

// Notes in each item which of its outputs exist and are kept. `inputs` returns the identities of
// all inputs of the run; it is called at most once. `resumes`: the run has read the journals.
// Throws UsageError if an output exists and may be neither kept nor replaced.
void check_existing(BatchPlan& plan, OnExists on_exists, bool resumes,
                    const std::function<std::set<FileIdentity>()>& inputs);

}  // namespace gpufilter
