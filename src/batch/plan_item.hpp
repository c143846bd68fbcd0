// The parts of a plan: inputs are paired with their outputs, and checked before a run begins for
// outputs that collide or exist.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
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
  // The same for a file that is known not to exist.
  [[nodiscard]] std::string of_new(const std::string& path);

 private:
  std::unordered_map<std::string, std::filesystem::path> folders_;
};

// Throws UsageError if two outputs of the plan are the same file.
void check_collisions(const BatchRequest& request, const BatchPlan& plan);

// Decides about the outputs that already exist.
class ExistingOutputs {
 public:
  // `inputs` returns the identities of all inputs of the run; it is called at most once. `resumes`:
  // the run has read the journals.
  ExistingOutputs(OnExists on_exists, bool resumes, std::function<std::set<FileIdentity>()> inputs)
      : on_exists_(on_exists), resumes_(resumes), find_inputs_(std::move(inputs)) {}

  // Notes in `item` which of its outputs exist and are kept. Throws UsageError if one exists and
  // may be neither kept nor replaced.
  void check(const BatchPlan& plan, BatchItem& item);

 private:
  [[nodiscard]] bool keeps(const BatchPlan& plan, const BatchItem& item, const std::string& path,
                           const std::string& recorded_name);

  OnExists on_exists_;
  bool resumes_;
  std::function<std::set<FileIdentity>()> find_inputs_;
  std::optional<std::set<FileIdentity>> inputs_;
};

}  // namespace gpufilter
