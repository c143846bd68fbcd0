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

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_same_folder(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored) && fs::is_directory(a, ignored);
}

// "a.png, b.png, ..." is what a shell makes of *.png.
[[noreturn]] void refuse_file_as_output(const BatchRequest& request) {
  const std::string output = printable(request.output);
  if (request.inputs.size() == 1) {
    throw UsageError(formatted("{}: is not a folder, but {} is; name a folder for the results",
                               output, printable(request.inputs.front())));
  }
  throw UsageError(formatted(
      "{}: is not a folder; several pictures need one for their results, as in: gpufilter "
      "{} ... OUTDIR",
      output, printable(request.inputs.front())));
}

void check_output(const BatchRequest& request) {
  std::error_code ignored;
  const bool exists = fs::exists(request.output, ignored);
  if (exists && !is_folder(request.output)) refuse_file_as_output(request);
  if (!exists && codec_of_name(request.output) != nullptr) {
    throw UsageError(formatted(
        "{0}: this folder does not exist, and the name is that of a picture; name a folder for the "
        "results, or write {0}/ if this name is meant",
        printable(request.output)));
  }
  if (request.in_place && request.inputs.size() > 1) {
    throw UsageError("--in-place: is for one picture or one folder, not for several inputs");
  }
  for (const std::string& input : request.inputs) {
    if (request.in_place || !is_same_folder(input, request.output)) continue;
    throw UsageError(formatted("{}: input and output are the same folder{}",
                               printable(request.output),
                               request.inputs.size() == 1 ? "; --in-place allows that" : ""));
  }
}

// Adds an input and what it holds to the plan.
class Collector {
 public:
  Collector(const BatchRequest& request, BatchPlan& plan) : request_(request), plan_(plan) {}

  void add_folder(const std::string& folder) {
    FolderScan scan{folder, request_.recursive, request_.follow_links, request_.patterns,
                    std::nullopt};
    const bool in_place = is_same_folder(folder, request_.output);
    if (!in_place) scan.left_out = request_.output;
    ScanResult result = scan_folder(scan);
    for (FoundFile& found : result.files)
      add(std::move(found), fs::path(folder), in_place);
    plan_.unmatched += result.unmatched;
    plan_.not_entered += result.not_entered;
  }

  void add_file(const std::string& path) {
    FoundFile found = look_at(path);
    add(std::move(found), fs::path(path).parent_path(), false);
  }

  [[nodiscard]] std::set<FileIdentity> identities() && { return std::move(identities_); }

 private:
  void add(FoundFile found, const fs::path& folder, bool in_place) {
    BatchItem item;
    item.input = folder / found.relative;
    item.problem = std::move(found.problem);
    item.bytes = found.bytes;
    item.output = output_name(found.relative, request_.to);
    if (item.problem.empty()) {
      identities_.insert(found.identity);
      item.output_format = request_.to != nullptr ? request_.to : format_of_name(item);
      item.replaces_input = in_place && item.output == found.relative;
    }
    plan_.items.push_back(std::move(item));
  }

  // A picture of a folder is there because of its name; one that was named may be called anything.
  [[nodiscard]] static const Codec* format_of_name(const BatchItem& item) {
    const Codec* format = codec_of_name(item.output);
    if (format != nullptr) return format;
    throw UsageError(
        formatted("{}: the name does not end in {}; --to sets the format of the results",
                  printable(item.input), endings_of(codecs())));
  }

  const BatchRequest& request_;
  BatchPlan& plan_;
  std::set<FileIdentity> identities_;
};

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
    const std::string& first = other->second->input;
    if (fs::path(first).lexically_normal() == fs::path(item.input).lexically_normal()) {
      throw UsageError(printable(item.input) + ": is given twice");
    }
    throw UsageError(printable(
        formatted("{} and {}: both would become {}; rename one of them", first, item.input, path)));
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
    if (!identity || item.replaces_input) return;
    if (inputs_.count(*identity) > 0) {
      throw UsageError(printable(
          identity == identity_of(item.input)
              ? formatted("{}: input and output are the same file", path)
              : formatted("{}: is an input of this run; {} would replace it", path, item.input)));
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

std::string BatchPlan::output_path(const BatchItem& item) const {
  return fs::path(output) / item.output;
}

BatchPlan make_batch_plan(const BatchRequest& request) {
  check_output(request);
  BatchPlan plan;
  plan.inputs = request.inputs;
  plan.output = request.output;
  plan.recursive = request.recursive;
  Collector collector(request, plan);
  for (const std::string& input : request.inputs) {
    is_folder(input) ? collector.add_folder(input) : collector.add_file(input);
  }
  check_collisions(plan);
  if (request.resume) plan.records = read_journal(request.output);
  const ExistingOutputs existing(request, std::move(collector).identities());
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
