#include "batch/batch_plan.hpp"

#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/lazy_library.hpp"
#include "base/printable.hpp"
#include "batch/plan_parts.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// Without links and without a slash at its end.
fs::path absolute_path(const std::string& path) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  return whole.has_filename() ? whole : whole.parent_path();
}

bool is_same_folder(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored) && is_folder(a);
}

// A call like "gpufilter *.png" gets here: the shell replaces *.png by "a.png b.png ...".
[[noreturn]] void refuse_file_as_output(const BatchRequest& request) {
  const std::string output = printable(request.output);
  if (request.inputs.size() == 1) {
    throw UsageError(
        formatted("{}: is not a folder; the pictures in {} need a folder for their results", output,
                  printable(request.inputs.front())));
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
  for (const std::string& input : request.inputs) {
    if (request.in_place || !is_same_folder(input, request.output)) continue;
    throw UsageError(formatted(
        "{}: input and output are the same folder{}", printable(request.output),
        request.inputs.size() == 1 ? formatted("; gpufilter {} --in-place replaces its pictures",
                                               printable(request.output))
                                   : ""));
  }
}

// Results in a folder with inputs would be inputs of the next run.
void check_other_folders(const BatchRequest& request) {
  for (const ChainOutput& output : request.outputs) {
    const std::string name = printable(output.path);
    if (codec_of_name(output.path) != nullptr && !output.path.ends_with('/') &&
        !is_folder(output.path)) {
      throw UsageError(
          formatted("--output {}: is the name of a picture; several pictures need a folder", name));
    }
    if (request.shard) {
      throw UsageError(formatted("--output {}: does not work with --shard; leave out one", name));
    }
    for (const std::string& input : request.inputs) {
      const fs::path within = path_within(output.path, input);
      if (!is_folder(input) || within.empty() || (!request.recursive && within != ".")) continue;
      throw UsageError(formatted("--output {}: is in the input folder {}; name a folder elsewhere",
                                 name, printable(input)));
    }
  }
}

// Adds inputs to the plan: files, and the pictures in folders.
class Collector {
 public:
  Collector(const BatchRequest& request, BatchPlan& plan) : request_(request), plan_(plan) {}

  void add_folder(const std::string& folder) {
    FolderScan scan{folder, request_.recursive, request_.follow_links, request_.patterns,
                    request_.excluded};
    const bool in_place = is_same_folder(folder, request_.output);
    if (!in_place) scan.left_out = request_.output;
    ScanResult result = scan_folder(scan);
    for (FoundFile& found : result.files)
      add(std::move(found), fs::path(folder), in_place);
    for (OtherPicture& other : result.others)
      plan_.others.push_back({fs::path(folder) / other.name, std::move(other.format)});
    plan_.unmatched += result.unmatched;
    plan_.excluded += result.excluded;
    plan_.not_entered += result.not_entered;
  }

  void add_file(const std::string& path) {
    FoundFile found = look_at(path);
    add(std::move(found), fs::path(path).parent_path(), request_.in_place);
  }

  void add_listed(const std::string& folder) {
    const bool in_place = is_same_folder(folder, request_.output);
    const PictureList list = listed_pictures(request_);
    for (const SizedName& picture : list.pictures()) {
      FoundFile found = look_at(fs::path(folder) / picture.name);
      found.relative = picture.name;
      add(std::move(found), folder, in_place);
    }
    for (const SizedName& other : list.others())
      plan_.others.push_back(other_picture(folder, other));
  }

 private:
  void add(FoundFile found, const fs::path& folder, bool in_place) {
    plan_.items.push_back(plan_item(request_, std::move(found), folder, in_place));
  }

  const BatchRequest& request_;
  BatchPlan& plan_;
};

void add_inputs(const BatchRequest& request, BatchPlan& plan) {
  Collector collector(request, plan);
  if (!request.list.empty()) {
    collector.add_listed(request.inputs.front());
    return;
  }
  for (const std::string& input : request.inputs)
    is_folder(input) ? collector.add_folder(input) : collector.add_file(input);
}

void refuse_unfinished_shards(const BatchRequest& request) {
  if (request.resume || !read_shard_run(request.output)) return;
  throw UsageError(
      formatted("{0}: holds an unfinished run in shards; 'gpufilter gather {0}' ends it when it is "
                "complete, --resume continues it here",
                printable(request.output)));
}

// A picture that replaced its input is known as filtered by the journal alone.
void refuse_damage(const std::string& output) {
  Damage damage;
  static_cast<void>(read_journal(output, &damage));
  if (damage.damaged == 0) return;
  throw UsageError(printable(
      formatted("{}: {}; --in-place could filter a picture twice; to filter all of them again, "
                "remove the journal",
                (fs::path(output) / journal_name).string(), damage.text())));
}

// Results must neither be filtered twice nor replaced by other ones without a word.
void check_last_run(const BatchRequest& request) {
  const auto last = read_last_run(request.output);
  if (!last) return;
  const std::string folder = printable(request.output);
  if (request.in_place && !request.resume && !last->ended) {
    throw UsageError(formatted(
        "{}: an earlier run did not end here, and would be repeated on its own results; --resume "
        "continues it; to filter all of them again, remove {}",
        folder, printable((fs::path(request.output) / journal_name).string())));
  }
  const bool other_stages = last->work.stages != request.work.stages;
  const bool other_options = request.in_place && last->work.options != request.work.options;
  if (!request.resume || (!other_stages && !other_options)) return;
  if (!request.in_place && request.on_exists == OnExists::overwrite) return;
  throw UsageError(formatted(
      "{}: the {} differ from those of the earlier run; {}", folder,
      other_stages ? "stages" : "options",
      !request.in_place ? "--on-exists overwrite replaces its results; or name another folder"
      : last->ended     ? "without --resume its results are filtered again"
                        : "it has to end first: repeat its command with --resume"));
}

}  // namespace

std::string BatchPlan::output_path(const BatchItem& item) const {
  return fs::path(output) / item.output;
}

std::string BatchPlan::journal_name_of(const ChainOutput& other) const {
  const fs::path path = other.path;
  return (absolute_path(path.parent_path()) / path.filename())
      .lexically_relative(absolute_path(output));
}

BatchPlan make_batch_plan(const BatchRequest& request) {
  check_output(request);
  check_other_folders(request);
  if (request.shard) return make_shard_plan(request);
  refuse_unfinished_shards(request);
  BatchPlan plan;
  plan.inputs = request.inputs;
  plan.output = request.output;
  for (const ChainOutput& other : request.outputs)
    plan.other_outputs.push_back(other.path);
  plan.recursive = request.recursive;
  plan.work = request.work;
  add_inputs(request, plan);
  check_collisions(request, plan);
  if (request.resume && request.in_place) refuse_damage(request.output);
  check_last_run(request);
  if (request.resume) plan.records = records_of_everyone(request.output);
  check_existing(plan, request.on_exists, request.resume, [&plan] { return identities_of(plan); });
  return plan;
}

ContentHash work_hash(const StageChain& chain, const Codec& output_format,
                      const WriteOptions& options) {
  std::string text = "gpufilter " GPUFILTER_VERSION "\n" + codec_versions() + "\n";
  for (const auto& stage : chain)
    text += stage->key() + "\n";
  return content_hash(text + encoding_key(output_format, options));
}

RunWork run_work(const StageChain& chain, const WriteOptions& options) {
  std::string stages;
  for (const auto& stage : chain)
    stages += stage->key() + "\n";
  std::string all;
  for (const Codec* codec : codecs())
    all += encoding_key(*codec, options) + "\n";
  return {content_hash(stages), content_hash(all)};
}

ContentHash with_library(const ContentHash& work, const Codec& output_format) {
  std::string library;
  try {
    if (output_format.libraries != nullptr) library = output_format.libraries();
  } catch (const LibraryNotLoaded&) {
    library = "none";  // each picture that needs it will fail
  }
  return content_hash(formatted("{}\n{}", to_string(work), library));
}

}  // namespace gpufilter
