#include "batch/batch_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "batch/output_name.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

std::string join(const std::string& folder, const std::string& relative) {
  return fs::path(folder) / relative;
}

void check_folders(const BatchRequest& request) {
  std::error_code ignored;
  if (fs::exists(request.output, ignored) && !fs::is_directory(request.output, ignored)) {
    throw UsageError(
        formatted("{}: is not a folder, but {} is", printable(request.output), request.input));
  }
  if (!request.in_place && fs::equivalent(request.input, request.output, ignored)) {
    throw UsageError(formatted("{}: input and output are the same folder; --in-place allows that",
                               printable(request.output)));
  }
}

BatchItem item_for(FoundFile found, const BatchRequest& request) {
  BatchItem item;
  item.output = output_name(found.relative, request.to);
  item.output_format = request.to != nullptr ? request.to : found.format;
  item.relative = std::move(found.relative);
  item.bytes = found.bytes;
  item.problem = std::move(found.problem);
  return item;
}

// Where an output really lies, whatever links lead there: also for files that do not exist yet.
class Places {
 public:
  [[nodiscard]] std::string of(const std::string& path) {
    const fs::path whole = path;
    std::error_code ignored;
    if (fs::is_symlink(whole, ignored)) return fs::weakly_canonical(whole, ignored);
    const std::string folder = whole.parent_path();
    auto known = folders_.find(folder);
    if (known == folders_.end()) {
      known = folders_.emplace(folder, fs::weakly_canonical(folder, ignored)).first;
    }
    return known->second / whole.filename();
  }

 private:
  std::unordered_map<std::string, fs::path> folders_;
};

void check_collisions(const BatchPlan& plan) {
  Places places;
  std::unordered_map<std::string, const BatchItem*> taken;
  for (const BatchItem& item : plan.items) {
    if (!item.problem.empty()) continue;
    const std::string path = plan.output_path(item);
    const auto [other, is_new] = taken.emplace(places.of(path), &item);
    if (is_new) continue;
    throw UsageError(
        printable(formatted("{} and {}: both would become {}; rename one of them",
                            plan.input_path(*other->second), plan.input_path(item), path)));
  }
}

// Decides about the outputs that already exist.
class ExistingOutputs {
 public:
  ExistingOutputs(const BatchRequest& request, std::set<FileIdentity> inputs)
      : request_(request), inputs_(std::move(inputs)) {}

  void check(const BatchPlan& plan, BatchItem& item) const {
    const std::string path = plan.output_path(item);
    const auto identity = identity_of(path);
    if (!identity || plan.replaces_input(item)) return;
    if (inputs_.count(*identity) > 0) {
      throw UsageError(printable(formatted("{}: is an input of this run; {} would replace it", path,
                                           plan.input_path(item))));
    }
    if (request_.on_exists == OnExists::overwrite || plan.records.count(item.output) > 0) return;
    if (request_.on_exists == OnExists::fail) {
      throw UsageError(printable(formatted(
          "{}: already exists; --on-exists overwrite replaces it, --on-exists skip leaves it, "
          "--resume continues an earlier run",
          path)));
    }
    item.exists = true;
  }

 private:
  const BatchRequest& request_;
  std::set<FileIdentity> inputs_;
};

}  // namespace

std::string BatchPlan::input_path(const BatchItem& item) const {
  return join(input, item.relative);
}

std::string BatchPlan::output_path(const BatchItem& item) const {
  return join(output, item.output);
}

BatchPlan make_batch_plan(const BatchRequest& request) {
  check_folders(request);
  BatchPlan plan;
  plan.input = request.input;
  plan.output = request.output;
  plan.recursive = request.recursive;
  std::error_code ignored;
  plan.one_folder = fs::equivalent(request.input, request.output, ignored);
  FolderScan scan{request.input, request.recursive, request.patterns, std::nullopt};
  if (!plan.one_folder) scan.left_out = request.output;
  std::set<FileIdentity> inputs;
  for (FoundFile& found : scan_folder(scan)) {
    if (found.problem.empty()) inputs.insert(found.identity);
    plan.items.push_back(item_for(std::move(found), request));
  }
  check_collisions(plan);
  if (request.resume) plan.records = read_journal(request.output);
  const ExistingOutputs existing(request, std::move(inputs));
  for (BatchItem& item : plan.items) {
    if (item.problem.empty()) existing.check(plan, item);
  }
  return plan;
}

ContentHash work_hash(const StageChain& chain, const Codec& output_format,
                      const WriteOptions& options) {
  std::string text = "gpufilter " GPUFILTER_VERSION "\n" + codec_versions() + "\n";
  for (const auto& stage : chain)
    text += stage->key() + "\n";
  return content_hash(text + encoding_key(output_format, options));
}

}  // namespace gpufilter
