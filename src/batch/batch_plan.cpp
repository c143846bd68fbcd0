#include "batch/batch_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <unordered_set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/lazy_library.hpp"
#include "base/printable.hpp"
#include "batch/output_name.hpp"
#include "codec/codec_table.hpp"

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
    throw UsageError(
        formatted("{0}: this folder does not exist, and its name is a picture's; name a folder for "
                  "the results, or write {0}/ to use this name",
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
    if (found.problem.empty()) ++number_;
    plan_.items.push_back(plan_item(request_, std::move(found), folder, in_place, number_));
  }

  const BatchRequest& request_;
  BatchPlan& plan_;
  std::size_t number_ = 0;  // of the last picture
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

// Results must neither be filtered twice nor silently replaced.
void check_last_run(const BatchRequest& request) {
  const auto last = read_last_run(request.output);
  if (!last) return;
  const std::string folder = printable(request.output);
  if (request.in_place && !request.resume && !last->ended) {
    throw UsageError(
        formatted("{}: an earlier run here was interrupted, and would be repeated on its own "
                  "results; --resume "
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

// The format of a result. A file found in a folder always has a picture's name; one named on the
// command line may not.
const Codec* format_of(const NamedResult& result, const std::string& input) {
  const Codec* format = result.format != nullptr ? result.format : codec_of_name(result.path);
  if (format != nullptr) return format;
  throw UsageError(formatted("{}: the name does not end in {}; --to sets the format of the results",
                             printable(input), extensions_of(codecs())));
}

// "find DIR" prints paths that begin with DIR, but a list has paths below DIR.
void check_prefix(const PictureList& list, const std::string& source, const std::string& folder) {
  if (list.pictures().empty()) return;
  const fs::path first = list.pictures().front().name;
  std::error_code ignored;
  if (fs::exists(folder / first, ignored) || !fs::exists(first, ignored)) return;
  throw UsageError(printable(
      formatted("{0}: '{1}' is not below {2}, but {1} exists; list names below {2}, as find {2} "
                "-type f -printf '%s\\t%P\\0' does",
                source, first.string(), folder)));
}

// The subfolder of OUTDIR in which an item's result has the name that a template gives.
fs::path subfolder_of(const BatchItem& item, const BatchRequest& request) {
  const std::string own = request.name ? request.name->text() : "";
  fs::path folder = fs::path(item.output).parent_path();
  for (auto slashes = std::count(own.begin(), own.end(), '/'); slashes > 0; --slashes)
    folder = folder.parent_path();
  return folder;
}

bool gives_each_a_name(const std::string& text, const BatchRequest& request,
                       const BatchPlan& plan) {
  ResultNames names = request;
  names.name.emplace(text);
  std::unordered_set<std::string> taken;
  return std::ranges::all_of(plan.items, [&](const BatchItem& item) {
    if (!item.problem.empty()) return true;
    const fs::path input = item.input;
    return std::ranges::all_of(
        names.of(input.parent_path(), input.filename()), [&](const NamedResult& result) {
          return taken.insert(subfolder_of(item, request) / result.path).second;
        });
  });
}

// Templates that give different results different names.
std::vector<std::string> distinct_templates(const BatchRequest& request) {
  std::string size;
  if (!request.sizes.empty()) {
    for (const auto& [side, word] :
         {std::pair{&ResultSize::width, "-{width}"}, std::pair{&ResultSize::height, "-{height}"}}) {
      if (std::ranges::none_of(request.sizes,
                               [&](const ResultSize& each) { return (each.*side).empty(); }))
        size += word;
    }
  }
  std::vector<std::string> templates;
  if (request.are_several()) templates.push_back("{stem}" + size + ".{to}");
  for (const char* begin : {"{stem}-{ext}", "{parent}-{stem}", "{parent}-{name}"})
    templates.push_back(begin + size + ".{to}");
  return templates;
}

// A phrase that suggests a --name under which the plan's results have different names; if there is
// none, that a file has to be renamed.
std::string collision_remedy(const BatchRequest& request, const BatchPlan& plan) {
  for (const std::string& text : distinct_templates(request)) {
    if (!request.in_place && gives_each_a_name(text, request, plan)) {
      return formatted("--name '{}' gives each its own name", text);
    }
  }
  return "rename one of them";
}

// Two results, of one picture or of two, would be the file `output`.
[[noreturn]] void refuse_same_name(const BatchRequest& request, const BatchPlan& plan,
                                   const BatchItem& item, const std::string& output) {
  throw UsageError(printable(formatted("{}: two results would become {}; {}", item.input, output,
                                       collision_remedy(request, plan))));
}

[[noreturn]] void refuse_collision(const BatchRequest& request, const BatchPlan& plan,
                                   const BatchItem& first, const BatchItem& second) {
  const auto normal = [](const std::string& path) { return fs::path(path).lexically_normal(); };
  if (normal(first.input) == normal(second.input)) {
    throw UsageError(printable(second.input) + ": is given twice");
  }
  const std::string output = plan.output_path(second);
  std::string link = link_text(output);
  if (link.empty()) link = link_text(plan.output_path(first));
  if (link.empty() || normal(plan.output_path(first)) == normal(output)) {
    throw UsageError(printable(formatted("{} and {}: both would become {}; {}", first.input,
                                         second.input, output, collision_remedy(request, plan))));
  }
  throw UsageError(printable(
      formatted("{} and {}: both results would be the same file, because {}; leave out one of them",
                first.input, second.input, link)));
}

// The reason why `item` must not be written to `path`, which is one of the inputs.
std::string input_as_output(const BatchItem& item, const std::string& path) {
  const std::string link = link_text(path);
  const std::string note = link.empty() ? "" : formatted(" ({})", link);
  if (identity_of(path) == identity_of(item.input)) {
    return formatted("{}: input and output are the same file{}; --in-place replaces the inputs",
                     path, note);
  }
  return formatted("{}: is an input of this run{}; {} would replace it", path, note, item.input);
}

// Where a result besides the last leaves the chain.
ChainOutput chain_output(const BatchRequest& request, const NamedResult& result) {
  ChainOutput output{fs::path(request.output) / result.path, result.format};
  const bool is_last_size = result.size + 1 >= request.sizes.size();
  output.stages = is_last_size ? request.stages : request.stages_before_sizes;
  if (!is_last_size) output.branch = result.size;
  return output;
}

}  // namespace

std::vector<std::string> names_of_outputs(const BatchRequest& request) {
  std::vector<std::string> names;
  const CodecList formats = request.to.empty() ? CodecList{nullptr} : request.to;
  const auto add = [&](const std::string& what) {
    for (const Codec* format : formats)
      names.push_back(formats.size() > 1 ? formatted("{} {}", what, format->name) : what);
  };
  for (const ChainOutput& other : request.outputs)
    add(other.path);
  for (const ResultSize& size : request.sizes)
    add(to_string(size));
  if (request.sizes.empty()) add(request.output);
  return names;
}

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
  plan.output_names = names_of_outputs(request);
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

RunWork run_work(const StageChain& chain, const WriteOptions& options,
                 const std::vector<StageChain>& branches) {
  std::string stages;
  for (const auto& stage : chain)
    stages += stage->key() + "\n";
  for (const StageChain& branch : branches) {
    stages += "branch\n";
    for (const auto& stage : branch)
      stages += stage->key() + "\n";
  }
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

BatchItem plan_item(const BatchRequest& request, FoundFile found, const fs::path& folder,
                    bool in_place, std::size_t number) {
  BatchItem item;
  item.input = folder / found.relative;
  item.problem = std::move(found.problem);
  item.bytes = found.bytes;
  if (!item.problem.empty()) {
    item.output = output_name(found.relative, request.to.empty() ? nullptr : request.to.back());
    return item;
  }
  std::vector<NamedResult> results = request.of(folder, found.relative, number, request.work);
  for (NamedResult& result : results)
    result.format = format_of(result, item.input);
  for (const ChainOutput& output : request.outputs) {
    for (const NamedResult& result : results) {
      item.others.push_back(output);
      item.others.back().path = fs::path(output.path) / result.path;
      item.others.back().format = result.format;
    }
  }
  item.output = results.back().path;
  item.output_format = results.back().format;
  item.replaces_input = in_place && item.output == found.relative;
  results.pop_back();
  for (const NamedResult& result : results)
    item.others.push_back(chain_output(request, result));
  return item;
}

OtherPicture other_picture(const fs::path& folder, const SizedName& listed) {
  return {folder / listed.name, other_format_of_name(std::string(listed.name))};
}

PictureList listed_pictures(const BatchRequest& request) {
  const std::string& folder = request.inputs.front();
  PictureList list = read_picture_list(request.list, folder);
  check_prefix(list, request.list, folder);
  const fs::path within = path_within(request.output, folder);
  if (within.empty() || within == ".") return list;
  const std::string results = within / "";  // with a slash at its end
  const auto is_result = [&](const SizedName& picture) {
    return picture.name.starts_with(results);
  };
  std::vector<SizedName> pictures(list.pictures().begin(), list.pictures().end());
  std::vector<SizedName> others(list.others().begin(), list.others().end());
  if (std::erase_if(pictures, is_result) + std::erase_if(others, is_result) == 0) return list;
  return PictureList(std::move(pictures), std::move(others));
}

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
    const auto [other, is_new] = taken.emplace(places.of(plan.output_path(item)), &item);
    if (!is_new) refuse_collision(request, plan, *other->second, item);
  }
  for (const BatchItem& item : plan.items) {
    for (const ChainOutput& other : item.others) {
      const auto [known, is_new] = taken.emplace(places.of(other.path), &item);
      if (is_new) continue;
      if (request.outputs.empty()) refuse_same_name(request, plan, *known->second, other.path);
      throw UsageError(printable(formatted(
          "--output {}: two outputs have this name; give --output another folder", other.path)));
    }
  }
}

std::set<FileIdentity> identities_of(const BatchPlan& plan) {
  std::set<FileIdentity> identities;
  for (const BatchItem& item : plan.items) {
    if (!item.problem.empty()) continue;
    if (const auto identity = identity_of(item.input)) identities.insert(*identity);
  }
  return identities;
}

void check_existing(BatchPlan& plan, OnExists on_exists, bool resumes,
                    const std::function<std::set<FileIdentity>()>& inputs) {
  std::optional<std::set<FileIdentity>> known;
  // Whether `path`, an output of `item`, exists and is kept.
  const auto keeps = [&](const BatchItem& item, const std::string& path,
                         const std::string& recorded_name) {
    const auto identity = identity_of(path);
    if (!identity) return false;
    if (!known) known = inputs();
    if (known->contains(*identity)) throw UsageError(printable(input_as_output(item, path)));
    if (on_exists == OnExists::overwrite || plan.records.contains(recorded_name)) return false;
    if (on_exists == OnExists::skip) return true;
    throw UsageError(printable(formatted(
        "{}: already exists{}; --on-exists overwrite replaces it, --on-exists skip leaves "
        "it{}",
        path, resumes ? ", and no journal records it" : "",
        resumes ? "" : ", --resume continues an earlier run")));
  };
  for (BatchItem& item : plan.items) {
    if (!item.problem.empty()) continue;
    item.keep_output = !item.replaces_input && keeps(item, plan.output_path(item), item.output);
    item.exists = item.keep_output;
    for (ChainOutput& other : item.others) {
      other.keep = keeps(item, other.path, plan.journal_name_of(other));
      item.exists = item.exists && other.keep;
    }
  }
}

}  // namespace gpufilter
