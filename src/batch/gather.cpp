#include "batch/gather.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "batch/output_name.hpp"
#include "batch/shard_run.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// The shards' journals are moved here in one step before they are removed.
constexpr const char* gathered_name = ".gpufilter-gathered";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Whether the file is the result that was recorded.
bool holds_result(const std::string& path, const JournalRecord& record) {
  const auto stamp = stamp_of(path);
  if (!stamp || stamp->bytes != record.output_bytes) return false;
  return stamp == record.output_stamp || content_of(path).hash == record.output;
}

// The names of the run's results.
ResultNames names_of(const ShardRun& run) {
  ResultNames names;
  for (const std::string_view word : split(run.format, ',')) {
    const auto found =
        std::ranges::find_if(codecs(), [&](const Codec* codec) { return codec->name == word; });
    if (found != codecs().end()) names.to.push_back(*found);
  }
  if (!run.sizes.empty()) {
    for (const std::string_view word : split(run.sizes, ','))
      names.sizes.push_back(parse_result_size(std::string(word)));
  }
  if (!run.name.empty()) names.name.emplace(run.name);
  return names;
}

// The folder's journal, locked against all other writers; nullptr if another program holds it.
std::unique_ptr<Journal> lock_folder(const std::string& output) {
  try {
    return std::make_unique<Journal>(output);
  } catch (const UsageError& error) {
    log::debug(error.what());
    return nullptr;
  }
}

// The folder's journal and the journals of a run, combined.
class ShardNotes {
 public:
  ShardNotes(const JournalRecords& earlier, std::vector<ShardJournal> journals) {
    for (const auto& [output, record] : earlier)
      records_[output].push_back(record);
    for (ShardJournal& journal : journals) {
      for (const auto& [output, record] : std::exchange(journal.records, {})) {
        failures_.erase(output);
        records_[output].push_back(record);
      }
      for (auto& [output, failure] : journal.failures)
        failures_.insert_or_assign(output, std::move(failure));
      if (journal.at_work) at_work_.push_back(journal.process);
      if (!journal.ended) not_ended_.insert(journal.process.token);
      const Shard& shard = journal.process.shard;
      stopped_.erase({shard.count, shard.index});
      if (!journal.ended && !journal.at_work)
        stopped_.insert({{shard.count, shard.index}, journal.process});
      count_ = shard.count;
    }
    processes_ = journals.size();
  }

  [[nodiscard]] const KnownRecords& records() const { return records_; }
  [[nodiscard]] const std::vector<ShardProcess>& at_work() const { return at_work_; }
  [[nodiscard]] const std::set<std::string, std::less<>>& not_ended() const { return not_ended_; }
  [[nodiscard]] std::size_t processes() const { return processes_; }
  // The number of shards that the latest process was started with.
  [[nodiscard]] std::uint32_t count() const { return count_; }

  // The last process that worked on the shard, if it did not end normally; otherwise nullptr.
  [[nodiscard]] const ShardProcess* stopped_on(const Shard& shard) const {
    const auto found = stopped_.find({shard.count, shard.index});
    return found == stopped_.end() ? nullptr : &found->second;
  }

  // Empty if it did not fail or was done later.
  [[nodiscard]] std::string failure_of(const std::string& output) const {
    const auto found = failures_.find(output);
    return found == failures_.end() ? std::string() : found->second;
  }

 private:
  KnownRecords records_;
  std::unordered_map<std::string, std::string> failures_;
  std::vector<ShardProcess> at_work_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ShardProcess> stopped_;  // by count and index
  std::set<std::string, std::less<>> not_ended_;                             // tokens
  std::size_t processes_ = 0;
  std::uint32_t count_ = 1;
};

// The shard of a picture, for each number of shards in use.
class Shares {
 public:
  Shares(std::span<const SizedName> pictures, const ShardNotes& notes)
      : notes_(notes), count_(notes.count()) {
    shards_[count_] = assign_shards(pictures, count_);
    for (const ShardProcess& process : notes.at_work()) {
      auto& shards = shards_[process.shard.count];
      if (shards.empty()) shards = assign_shards(pictures, process.shard.count);
    }
  }

  [[nodiscard]] Shard of(std::size_t picture) const {
    return {shards_.at(count_)[picture], count_};
  }

  [[nodiscard]] bool is_under_way(std::size_t picture) const {
    return std::any_of(notes_.at_work().begin(), notes_.at_work().end(),
                       [&](const ShardProcess& process) {
                         return shards_.at(process.shard.count)[picture] == process.shard.index;
                       });
  }

 private:
  const ShardNotes& notes_;
  std::uint32_t count_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> shards_;  // by the number of shards
};

// The results that the run made, or kept.
class Results {
 public:
  Results(const std::string& output, const ShardRun& run) : folder_(output), run_(run) {}

  // The record that matches the result on disk; nullptr if there is none.
  [[nodiscard]] const JournalRecord* made(const std::string& name,
                                          const KnownRecords& known) const {
    const auto records = known.find(name);
    if (records == known.end()) return nullptr;
    const auto found = std::find_if(
        records->second.rbegin(), records->second.rend(), [&](const JournalRecord& record) {
          return std::count(run_.works.begin(), run_.works.end(), record.work) > 0 &&
                 holds_result(folder_ / name, record);
        });
    return found == records->second.rend() ? nullptr : &*found;
  }

  [[nodiscard]] bool kept(const std::string& name) const {
    return run_.keeps_existing && is_there(folder_ / name);
  }

 private:
  fs::path folder_;
  const ShardRun& run_;
};

// Adds the records of the results that the run made to `made`. Returns whether each was made or is
// kept.
bool add_results(const std::vector<NamedResult>& results, const Results& known,
                 const KnownRecords& records, JournalRecords& made) {
  bool is_done = true;
  for (const NamedResult& result : results) {
    const JournalRecord* record = known.made(result.path, records);
    if (record != nullptr) made.emplace(result.path, *record);
    is_done = is_done && (record != nullptr || known.kept(result.path));
  }
  return is_done;
}

// Returns the records of the results that exist.
JournalRecords look_at_pictures(const ShardRun& run, const ShardNotes& notes,
                                GatherReport& report) {
  const PictureList listing = read_run_listing(report.output, run);
  const auto pictures = listing.pictures();
  const Shares shares(pictures, notes);
  const Results results(report.output, run);
  const ResultNames names = names_of(run);
  const fs::path folder = fs::path(run.working_folder) / run.input;
  JournalRecords made;
  report.pictures = pictures.size();
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const std::string name(pictures[i].name);
    const std::vector<NamedResult> all = names.of(folder, name);
    const std::string& output = all.back().path;
    const std::string failure = notes.failure_of(output);
    if (failure.empty() && add_results(all, results, notes.records(), made)) {
      ++report.done;
    } else if (shares.is_under_way(i)) {
      ++report.under_way;
    } else {
      report.unfinished.push_back({fs::path(run.input) / name, output, shares.of(i), failure});
    }
  }
  return made;
}

// Adds, for each shard with unfinished pictures, the command that finishes it and the process that
// left it.
void explain(const ShardRun& run, const ShardNotes& notes, GatherReport& report) {
  std::error_code ignored;
  const bool is_here = fs::equivalent(run.working_folder, ".", ignored);
  const std::string begin = is_here ? "" : formatted("cd {} && ", shell_word(run.working_folder));
  std::set<std::uint32_t> shards;
  for (const UnfinishedPicture& picture : report.unfinished)
    shards.insert(picture.shard.index);
  for (const std::uint32_t index : shards) {
    const Shard shard{index, notes.count()};
    report.commands.push_back(formatted("{}{} --shard {}", begin, run.command, to_string(shard)));
    if (const ShardProcess* process = notes.stopped_on(shard)) report.stopped.push_back(*process);
  }
}

// Names and sizes of the run's files: they change if a process has begun or written meanwhile.
std::map<std::string, std::uintmax_t> files_of_run(const std::string& output) {
  std::map<std::string, std::uintmax_t> files;
  std::error_code ended;
  for (fs::directory_iterator entry(fs::path(output) / shards_name, ended);
       !ended && entry != fs::directory_iterator(); entry.increment(ended)) {
    std::error_code ignored;
    files.emplace(entry->path().filename(), entry->file_size(ignored));
  }
  return files;
}

// Adds the records that the folder's journal lacks, and checks that they are there: without a lock,
// two programs may write at the same time.
void merge(const std::string& output, const JournalRecords& records, Journal& journal) {
  const auto missing = [&] {
    JournalRecords known = read_journal(output);
    JournalRecords fresh;
    for (const auto& [name, record] : records) {
      const auto found = known.find(name);
      if (found == known.end() || found->second != record) fresh.emplace(name, record);
    }
    return fresh;
  };
  journal.add_all(missing());
  sync_folder(output);
  if (missing().empty()) return;
  throw PictureError((fs::path(output) / journal_name).native(),
                     "another program has changed it; run gather again");
}

void remove_gathered(const std::string& output) {
  std::error_code error;
  fs::remove_all(fs::path(output) / gathered_name, error);
  // On NFS a removed file that is still open stays under another name. The next gather removes it.
  if (error) log::debug(formatted("{}/{}: {}", output, gathered_name, error.message()));
}

// Removes the run in one step: other processes see it with all its journals or not at all.
void remove_run(const std::string& output) {
  const fs::path folder = output;
  remove_gathered(output);
  std::error_code error;
  fs::rename(folder / shards_name, folder / gathered_name, error);
  if (error && error != std::errc::no_such_file_or_directory) {
    throw PictureError((folder / shards_name).native(), describe_system_error(error.value()));
  }
  sync_folder(output);
  remove_gathered(output);
}

GatherReport look_at_journal(const std::string& output) {
  const JournalRecords records = read_journal_with_warning(output);
  GatherReport report;
  report.output = output;
  report.pictures = records.size();
  for (const auto& [name, record] : records) {
    if (holds_result(fs::path(output) / name, record)) {
      ++report.done;
    } else {
      report.unfinished.push_back({"", name, {}, ""});
    }
  }
  std::sort(
      report.unfinished.begin(), report.unfinished.end(),
      [](const UnfinishedPicture& a, const UnfinishedPicture& b) { return a.output < b.output; });
  return report;
}

// Locks the folder only after all checks, so that a shard that begins meanwhile is not refused.
GatherReport gather_run(const std::string& output, const ShardRun& run) {
  const auto files = files_of_run(output);
  const ShardNotes notes(read_journal_with_warning(output),
                         read_shard_journals(output, [](const Shard&) { return true; }));
  GatherReport report;
  report.output = output;
  report.has_run = true;
  report.processes = notes.processes();
  report.at_work = notes.at_work();
  const JournalRecords made = look_at_pictures(run, notes, report);
  explain(run, notes, report);
  if (!report.complete()) return report;
  const auto journal = lock_folder(output);
  report.busy = !journal || files_of_run(output) != files;
  if (report.busy) return report;
  merge(output, made, *journal);
  remove_abandoned_files_of(notes.not_ended(), output);
  remove_run(output);
  report.gathered = true;
  return report;
}

void check_folder(const std::string& output) {
  if (!is_folder(output)) {
    throw UsageError(printable(output) +
                     (is_there(output) ? ": is not a folder" : ": this folder does not exist"));
  }
  const fs::path folder = output;
  if (!is_there(folder / journal_name) && !is_there(folder / shards_name)) {
    throw UsageError(printable(output) + ": gpufilter has not written to this folder");
  }
}

}  // namespace

GatherReport gather_shards(const std::string& output) {
  check_folder(output);
  const auto run = read_shard_run(output);
  if (run) {
    try {
      return gather_run(output, *run);
    } catch (const PictureError&) {
      if (read_shard_run(output) == run) throw;
      return gather_shards(output);  // another gather has ended the run
    }
  }
  GatherReport report = look_at_journal(output);
  const auto journal = lock_folder(output);
  report.busy = !journal;
  if (journal) remove_gathered(output);
  return report;
}

}  // namespace gpufilter
