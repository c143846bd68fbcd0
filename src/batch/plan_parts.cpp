#include "batch/plan_parts.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "batch/output_name.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// A file found in a folder always has a picture's name; one named on the command line may not.
const Codec* format_of_name(const BatchItem& item) {
  const Codec* format = codec_of_name(item.output);
  if (format != nullptr) return format;
  throw UsageError(formatted("{}: the name does not end in {}; --to sets the format of the results",
                             printable(item.input), extensions_of(codecs())));
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

bool gives_each_a_name(const NameTemplate& name, const BatchRequest& request,
                       const BatchPlan& plan) {
  std::unordered_set<std::string> taken;
  return std::all_of(plan.items.begin(), plan.items.end(), [&](const BatchItem& item) {
    if (!item.problem.empty()) return true;
    return taken.insert(subfolder_of(item, request) / name.name_for(item.input, request.to)).second;
  });
}

// A --name that gives each of the plan's results a name of its own, in a phrase that tells the user
// so; if there is none, that a file has to be renamed.
std::string collision_remedy(const BatchRequest& request, const BatchPlan& plan) {
  for (const char* text : {"{stem}-{ext}.{to}", "{parent}-{stem}.{to}", "{parent}-{name}.{to}"}) {
    if (!request.in_place && gives_each_a_name(NameTemplate(text), request, plan)) {
      return formatted("--name '{}' gives each a name of its own", text);
    }
  }
  return "rename one of them";
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

// Why `item` must not be written to `path`, which is one of the inputs.
std::string input_as_output(const BatchItem& item, const std::string& path) {
  const std::string link = link_text(path);
  const std::string note = link.empty() ? "" : formatted(" ({})", link);
  if (identity_of(path) == identity_of(item.input)) {
    return formatted("{}: input and output are the same file{}; --in-place replaces the inputs",
                     path, note);
  }
  return formatted("{}: is an input of this run{}; {} would replace it", path, note, item.input);
}

}  // namespace

BatchItem plan_item(const BatchRequest& request, FoundFile found, const fs::path& folder,
                    bool in_place) {
  BatchItem item;
  item.input = folder / found.relative;
  item.problem = std::move(found.problem);
  item.bytes = found.bytes;
  item.output = item.problem.empty() ? output_name(folder, found.relative, request.to, request.name)
                                     : output_name(found.relative, request.to);
  if (item.problem.empty()) {
    item.output_format = request.to != nullptr ? request.to : format_of_name(item);
    item.replaces_input = in_place && item.output == found.relative;
    for (ChainOutput other : request.outputs) {
      other.path = fs::path(other.path) / item.output;
      other.format = item.output_format;
      item.others.push_back(std::move(other));
    }
  }
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
      if (taken.emplace(places.of(other.path), &item).second) continue;
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
