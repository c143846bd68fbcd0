#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "batch/batch_plan.hpp"
#include "batch/output_name.hpp"
#include "batch/shard_run.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// Tells which files exist. Each folder is read once: a million calls of stat() on a network file
// system take minutes.
class FolderNames {
 public:
  [[nodiscard]] bool hold(const fs::path& path) {
    const auto [known, is_new] = folders_.try_emplace(path.parent_path());
    if (is_new) {
      std::error_code ended;  // set if the folder does not exist, too
      for (fs::directory_iterator entry(known->first, ended);
           !ended && entry != fs::directory_iterator(); entry.increment(ended)) {
        known->second.insert(entry->path().filename());
      }
    }
    return known->second.contains(path.filename());
  }

 private:
  std::unordered_map<std::string, std::unordered_set<std::string>> folders_;
};

std::set<FileIdentity> identities_in(const std::string& folder, const PictureList& listing) {
  std::set<FileIdentity> identities;
  for (const SizedName& picture : listing.pictures()) {
    if (const auto identity = identity_of(fs::path(folder) / picture.name)) {
      identities.insert(*identity);
    }
  }
  return identities;
}

void add(KnownRecords& known, const std::string& output, const JournalRecord& record) {
  auto& of_output = known[output];
  if (std::find(of_output.begin(), of_output.end(), record) == of_output.end()) {
    of_output.push_back(record);
  }
}

void add(KnownRecords& known, const JournalRecords& records) {
  for (const auto& [output, record] : records)
    add(known, output, record);
}

// The words of a list, with commas between them.
template <typename List, typename Word>
std::string joined(const List& list, const Word& word) {
  std::vector<std::string> words;
  std::ranges::transform(list, std::back_inserter(words), word);
  return formatted("{}", fmt::join(words, ","));
}

ShardRun run_of(const BatchRequest& request) {
  const ShardRequest& shard = *request.shard;
  ShardRun run;
  std::string input = fs::path(request.inputs.front()).lexically_normal();
  if (input.size() > 1 && input.ends_with('/')) input.pop_back();
  run.input = input;
  run.format = joined(request.to, [](const Codec* codec) { return codec->name; });
  run.sizes = joined(request.sizes, [](const ResultSize& size) { return to_string(size); });
  if (request.name) run.name = request.name->text();
  std::error_code ignored;
  run.working_folder = fs::current_path(ignored);
  run.command = shard.command;
  run.keeps_existing = request.on_exists == OnExists::skip;
  std::string text =
      formatted("{}\n{}\n{} {}", input, run.format, request.recursive, request.follow_links);
  for (std::size_t size = 0; size < std::max<std::size_t>(request.sizes.size(), 1); ++size) {
    for (const Codec* codec : codecs())
      text += formatted("\n{}", to_string(shard.works.at({codec, size})));
  }
  for (const std::string& pattern : request.patterns)
    text += formatted("\n{}", pattern);
  for (const std::string& pattern : request.excluded)
    text += formatted("\nexcluded {}", pattern);
  if (request.name) text += formatted("\nname {}", run.name);
  if (!run.sizes.empty()) text += formatted("\nsizes {}", run.sizes);
  run.id = content_hash(text);
  return run;
}

class ShardPlanner {
 public:
  explicit ShardPlanner(const BatchRequest& request)
      : request_(request), folder_(request.inputs.front()) {
    plan_.inputs = request.inputs;
    plan_.output = request.output;
    plan_.recursive = request.recursive;
    plan_.shard.emplace();
    plan_.shard->shard = request.shard->shard;
    plan_.shard->source = request.shard->source;
    plan_.shard->run = run_of(request);
    plan_.output_names = names_of_outputs(request);
  }

  // Plans the first shard of a new run.
  [[nodiscard]] BatchPlan begin(PictureList listing) {
    plan_.shard->run.listing = content_hash(listing.text());
    for (const Codec* format : formats_of(listing))
      add_works(*format, plan_.shard->run.works);
    if (request_.resume) add(plan_.records, read_journal_with_warning(request_.output));
    check_whole_folder(listing);
    take_share(listing);
    KnownRecords all = std::exchange(plan_.records, {});
    for (const BatchItem& item : plan_.items) {
      if (auto known = all.extract(item.output)) plan_.records.insert(std::move(known));
      for (const ChainOutput& other : item.others) {
        if (auto known = all.extract(plan_.journal_name_of(other)))
          plan_.records.insert(std::move(known));
      }
    }
    check_share();
    plan_.shard->listing = std::move(listing);
    return std::move(plan_);
  }

  // Plans another shard of `run`, which the output folder holds. `given`: the list from --list.
  [[nodiscard]] BatchPlan follow(const ShardRun& run, const std::optional<PictureList>& given) {
    const std::string output = printable(request_.output);
    if (run.id != plan_.shard->run.id) refuse_other("inputs, stages or options");
    if (given && content_hash(given->text()) != run.listing) {
      throw UsageError(
          formatted("{0}: names or sizes differ from the list that the run in {1} began with; "
                    "leave out --list to continue with that one",
                    printable(request_.list), output));
    }
    plan_.shard->run = run;
    plan_.shard->has_begun = true;
    take_share(given ? *given : read_run_listing(request_.output, run));
    check_works();
    take_records();
    check_share();
    return std::move(plan_);
  }

  [[nodiscard]] PictureList list_pictures() {
    FolderScan scan{folder_,
                    request_.recursive,
                    request_.follow_links,
                    request_.patterns,
                    request_.excluded,
                    request_.output,
                    false};
    const ScanResult result = scan_folder(scan);
    plan_.unmatched = result.unmatched;
    plan_.excluded = result.excluded;
    plan_.not_entered = result.not_entered;
    std::vector<SizedName> names;
    for (const FoundFile& file : result.files) {
      // The listing of the whole run would be incomplete.
      if (!file.problem.empty())
        throw PictureError((fs::path(folder_) / file.relative).string(), file.problem);
      names.push_back({file.relative, file.bytes});
    }
    std::vector<SizedName> others;
    others.reserve(result.others.size());
    for (const OtherPicture& other : result.others)
      others.push_back({other.name, 0});
    return PictureList(std::move(names), std::move(others));
  }

 private:
  [[noreturn]] void refuse_other(const char* difference) const {
    throw UsageError(
        formatted("{0}: holds an unfinished run in shards with other {2}; 'gpufilter gather {0}' "
                  "ends it when it is complete; to abandon it, remove {0}/{1}",
                  printable(request_.output), shards_name, difference));
  }

  // Adds the work of each size in this format.
  void add_works(const Codec& format, std::vector<ContentHash>& works) const {
    for (const auto& [key, work] : request_.shard->works) {
      if (key.first == &format) works.push_back(with_library(work, format));
    }
  }

  [[nodiscard]] std::set<const Codec*> formats_of(const PictureList& listing) const {
    if (!request_.to.empty()) return {request_.to.begin(), request_.to.end()};
    std::set<const Codec*> formats;
    for (const SizedName& picture : listing.pictures())
      formats.insert(codec_of_name(names_of(picture).back().path));
    formats.erase(nullptr);
    return formats;
  }

  [[nodiscard]] std::vector<NamedResult> names_of(const SizedName& picture) const {
    return request_.of(folder_, std::string(picture.name));
  }

  // Libraries of other versions could give other results than the rest of the run.
  void check_works() const {
    const std::vector<ContentHash>& known = plan_.shard->run.works;
    std::set<const Codec*> formats;
    for (const BatchItem& item : plan_.items) {
      formats.insert(item.output_format);
      for (const ChainOutput& other : item.others)
        formats.insert(other.format);
    }
    formats.erase(nullptr);
    for (const Codec* format : formats) {
      std::vector<ContentHash> own;
      add_works(*format, own);
      const auto is_known = [&](const ContentHash& work) {
        return std::ranges::find(known, work) != known.end();
      };
      if (!std::ranges::all_of(own, is_known))
        refuse_other(formatted("versions of the libraries for {}", format->name).c_str());
    }
  }

  // Makes the checks of an undivided folder. Only outputs that exist or whose hashes collide are
  // looked at, in the order of their names.
  void check_whole_folder(const PictureList& listing) {
    const auto pictures = listing.pictures();
    Places places;
    FolderNames names;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> by_place;
    std::vector<std::uint32_t> suspects;
    for (std::uint32_t i = 0; i < pictures.size(); ++i) {
      for (const NamedResult& result : names_of(pictures[i])) {
        const fs::path path = fs::path(request_.output) / result.path;
        const bool exists = names.hold(path);
        if (exists) suspects.push_back(i);
        by_place.emplace_back(content_hash(exists ? places.of(path) : places.of_new(path)).low, i);
      }
    }
    std::sort(by_place.begin(), by_place.end());
    for (std::size_t i = 1; i < by_place.size(); ++i) {
      if (by_place[i - 1].first != by_place[i].first) continue;
      suspects.push_back(by_place[i - 1].second);
      suspects.push_back(by_place[i].second);
    }
    std::sort(suspects.begin(), suspects.end());
    suspects.erase(std::unique(suspects.begin(), suspects.end()), suspects.end());
    check_suspects(listing, suspects);
  }

  void check_suspects(const PictureList& listing, const std::vector<std::uint32_t>& suspects) {
    BatchPlan whole;
    whole.output = request_.output;
    for (const std::uint32_t i : suspects) {
      FoundFile file;
      file.relative = listing.pictures()[i].name;
      whole.items.push_back(plan_item(request_, std::move(file), folder_, false));
    }
    check_collisions(request_, whole);
    std::swap(whole.records, plan_.records);
    check_existing(whole, request_.on_exists, request_.resume,
                   [&] { return identities_in(folder_, listing); });
    std::swap(whole.records, plan_.records);
  }

  // Records of this shard's pictures may be in its own journals, and in those of a division into
  // another number of shards.
  void take_records() {
    std::unordered_set<std::string> outputs;
    for (const BatchItem& item : plan_.items) {
      outputs.insert(item.output);
      for (const ChainOutput& other : item.others)
        outputs.insert(plan_.journal_name_of(other));
    }
    const auto take = [&](const JournalRecords& records) {
      for (const auto& [output, record] : records)
        if (outputs.contains(output)) add(plan_.records, output, record);
    };
    if (request_.resume) take(read_journal_with_warning(request_.output));
    const Shard own = plan_.shard->shard;
    const auto concerns_us = [own](const Shard& other) {
      return other.count != own.count || other.index == own.index;
    };
    visit_shard_journals(request_.output, concerns_us, [&](const ShardJournal& journal) {
      take(journal.records);
      note_unfinished(journal);
    });
  }

  // Warns of a process that is working on the same pictures; notes a dead one, whose temporary
  // files will be removed.
  void note_unfinished(const ShardJournal& journal) {
    const ShardProcess& other = journal.process;
    if (other.token == process_token() || journal.ended) return;
    if (!journal.at_work) {
      plan_.shard->dead_processes.insert(other.token);
      return;
    }
    log::warn(formatted("{}: shard {} is also in progress in process {} on {}",
                        printable(request_.output), to_string(other.shard), other.process,
                        printable(other.host)));
  }

  void take_share(const PictureList& listing) {
    PlannedShard& planned = *plan_.shard;
    const auto pictures = listing.pictures();
    planned.all_pictures = pictures.size();
    planned.all_bytes = listing.bytes();
    const auto shards = assign_shards(pictures, planned.shard.count);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      if (shards[i] != planned.shard.index) continue;
      planned.bytes += pictures[i].bytes;
      FoundFile file = look_at(fs::path(folder_) / pictures[i].name);
      file.relative = pictures[i].name;
      plan_.items.push_back(plan_item(request_, std::move(file), folder_, false));
    }
    const auto others = listing.others();
    for (std::size_t i = planned.shard.index; i < others.size(); i += planned.shard.count)
      plan_.others.push_back(other_picture(folder_, others[i]));
  }

  // When the run began no output existed, or the user allowed it. So an output that is in no
  // journal was made by this run, on a machine that crashed before its journal was on disk.
  void check_share() {
    const bool skips = request_.on_exists == OnExists::skip;
    check_existing(plan_, skips ? OnExists::skip : OnExists::overwrite, request_.resume,
                   [&] { return identities_of(plan_); });
  }

  const BatchRequest& request_;
  std::string folder_;
  BatchPlan plan_;
};

}  // namespace

BatchPlan make_shard_plan(const BatchRequest& request) {
  std::optional<PictureList> given;
  if (!request.list.empty()) given = listed_pictures(request);
  if (const auto run = read_shard_run(request.output)) {
    return ShardPlanner(request).follow(*run, given);
  }
  try {
    ShardPlanner planner(request);
    return planner.begin(given ? *given : planner.list_pictures());
  } catch (const UsageError&) {
    // The outputs that exist may belong to a run that another process has begun meanwhile.
    const auto run = read_shard_run(request.output);
    if (!run) throw;
    return ShardPlanner(request).follow(*run, given);
  }
}

BatchPlan join_run(const BatchRequest& request, BatchPlan plan) {
  PlannedShard& planned = *plan.shard;
  if (planned.has_begun) return plan;
  create_folder(plan.output);
  const ShardRun run = publish_shard_run(plan.output, planned.run, planned.listing);
  if (run.id != planned.run.id || run.listing != planned.run.listing) {
    std::optional<PictureList> given;
    if (!request.list.empty()) given = std::move(planned.listing);
    return ShardPlanner(request).follow(run, given);
  }
  planned.has_begun = true;
  planned.listing = {};
  return plan;
}

KnownRecords records_of_everyone(const std::string& output) {
  KnownRecords known;
  add(known, read_journal_with_warning(output));
  visit_shard_journals(
      output, [](const Shard&) { return true; },
      [&](const ShardJournal& journal) { add(known, journal.records); });
  return known;
}

}  // namespace gpufilter
