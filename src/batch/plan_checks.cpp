#include "batch/plan_checks.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "batch/name_remedy.hpp"

namespace gpufilter {

namespace fs = std::filesystem;

std::string Places::of(const std::string& path) {
  std::error_code ignored;
  if (fs::is_symlink(path, ignored)) return fs::weakly_canonical(path, ignored);
  return of_new(path);
}

std::string Places::of_new(const std::string& path) {
  const fs::path whole = path;
  std::error_code ignored;
  const std::string folder = whole.parent_path();
  auto known = folders_.find(folder);
  if (known == folders_.end()) {
    known = folders_.emplace(folder, fs::weakly_canonical(folder, ignored)).first;
  }
  return known->second / whole.filename();
}

void check_collisions(const BatchRequest& request, const BatchPlan& plan) {
  Places places;
  std::unordered_map<std::string, const BatchItem*> taken;
  for (const BatchItem& item : plan.items) {
    if (!item.problem.empty()) continue;
    const std::string path = plan.output_path(item);
    const auto [other, is_new] = taken.emplace(places.of(path), &item);
    if (is_new) continue;
    const std::string& first = other->second->input;
    if (fs::path(first).lexically_normal() == fs::path(item.input).lexically_normal()) {
      throw UsageError(printable(item.input) + ": is given twice");
    }
    throw UsageError(printable(formatted("{} and {}: both would become {}; {}", first, item.input,
                                         path, collision_remedy(request, plan))));
  }
}

void ExistingOutputs::check(const BatchPlan& plan, BatchItem& item) {
  const std::string path = plan.output_path(item);
  const auto identity = identity_of(path);
  if (!identity || item.replaces_input) return;
  if (!inputs_) inputs_ = find_inputs_();
  if (inputs_->contains(*identity)) {
    throw UsageError(printable(
        identity == identity_of(item.input)
            ? formatted("{}: input and output are the same file", path)
            : formatted("{}: is an input of this run; {} would replace it", path, item.input)));
  }
  if (on_exists_ == OnExists::overwrite || plan.records.contains(item.output)) return;
  if (on_exists_ == OnExists::fail) {
    throw UsageError(printable(formatted(
        "{}: already exists{}; --on-exists overwrite replaces it, --on-exists skip leaves "
        "it{}",
        path, resumes_ ? ", and no journal records it" : "",
        resumes_ ? "" : ", --resume continues an earlier run")));
  }
  item.exists = true;
}

}  // namespace gpufilter
