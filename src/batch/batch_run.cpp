#include "batch/batch_run.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include <sys/resource.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/stop.hpp"
#include "base/threads.hpp"
#include "base/words.hpp"
#include "batch/file_content.hpp"
#include "batch/output_name.hpp"
#include "batch/shard_run.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// A picture's input and its unfinished result; while the result gets its name, its lock and its
// folder.
constexpr rlim_t files_of_a_job = 4;
// File descriptors reserved for drivers, caches and the trace, which are opened during the run.
constexpr rlim_t reserve = 12;

rlim_t open_files() {
  constexpr rlim_t usual = 8;  // if there is no /proc
  std::error_code error;
  rlim_t count = 0;
  for (fs::directory_iterator entry("/proc/self/fd", error);
       !error && entry != fs::directory_iterator(); entry.increment(error))
    ++count;
  return std::max(count, usual);
}

// Hashes what is written, and calls back before the file is moved into place.
class WatchedSink final : public ByteSink {
 public:
  using BeforeCommit = std::function<void(const ContentHash& hash, std::uint64_t bytes)>;

  WatchedSink(std::unique_ptr<ByteSink> sink, BeforeCommit before_commit)
      : sink_(std::move(sink)), before_commit_(std::move(before_commit)) {}

  [[nodiscard]] const std::string& name() const override { return sink_->name(); }
  [[nodiscard]] std::uint64_t bytes_written() const override { return sink_->bytes_written(); }

  void write(std::span<const std::uint8_t> bytes) override {
    hasher_.add(bytes);
    sink_->write(bytes);
  }

  void commit() override {
    before_commit_(hasher_.result(), sink_->bytes_written());
    sink_->commit();
  }

 private:
  std::unique_ptr<ByteSink> sink_;
  BeforeCommit before_commit_;
  ContentHasher hasher_;
};

struct Verified {
  bool same = false;
  std::optional<FileStamp> stamp;  // the current one, if it identifies the contents
};

// Whether the file's contents have `hash`: by its stamp if that decides it, otherwise by its bytes.
Verified verify(const std::string& path, const std::optional<FileStamp>& stamp,
                const ContentHash& hash) {
  if (stamp && stamp_of(path) == stamp) return {true, stamp};
  const FileContent content = content_of(path);
  if (content.hash != hash) return {};
  return {true, content.settled ? std::optional(content.stamp) : std::nullopt};
}

// The results that a run has put in place, by which it notices names that are different but lead to
// one file: on a file system that ignores case, or how letters with accents are composed.
class WrittenFiles {
 public:
  // Throws PictureError if `path` leads to a result of another name.
  void check(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    refuse_other(path);
  }

  // Notes that `path` is in place. Throws as check() does: two jobs may have passed it at once.
  void add(const std::string& path) {
    const std::lock_guard lock(mutex_);
    refuse_other(path);
    if (const auto identity = identity_of(path)) names_[*identity] = path;
  }

 private:
  void refuse_other(const std::string& path) const {
    const auto identity = identity_of(path);
    const auto found = identity ? names_.find(*identity) : names_.end();
    // A file that somebody removed meanwhile may have left its identity to this one.
    if (found == names_.end() || found->second == path || identity_of(found->second) != identity)
      return;
    throw PictureError(path, formatted("is the same file as {}, another result, on this file "
                                       "system; give one of them another name",
                                       found->second));
  }

  mutable std::mutex mutex_;
  std::map<FileIdentity, std::string> names_;
};

// Filters the pictures of a run and records them in the journal.
class PictureJobs {
 public:
  // All arguments have to outlive this object. Without `journal` nothing may be written.
  PictureJobs(const BatchPlan& plan, const StageChain& chain, Dispatcher& dispatcher,
              const RunOptions& run, Journal* journal)
      : plan_(plan), chain_(chain), dispatcher_(dispatcher), run_(run), journal_(journal) {
    for (const BatchItem& item : plan.items) {
      add_work(last_output(item));
      for (const ChainOutput& other : item.others)
        add_work(other);
    }
  }

  // Whether an earlier run completed the result: it was made from the same contents by the same
  // work and has not changed since. Throws PictureError if the files cannot be read.
  [[nodiscard]] bool is_complete(const BatchItem& item) const {
    return (item.keep_output || is_complete(item, last_result(item))) &&
           std::all_of(item.others.begin(), item.others.end(), [&](const ChainOutput& other) {
             return other.keep || is_complete(item, other_result(other));
           });
  }

  // Filters the picture and records that in the journal. Throws as filter_picture() does, and
  // PictureError if the input changes meanwhile.
  [[nodiscard]] RunReport filter(const BatchItem& item, const OnProgress& on_progress) const {
    HashedInput hashed_input(item.input);
    std::map<std::string, std::pair<Result, JournalRecord>> records;  // by path
    const auto expect = [&records](const Result& result) {
      JournalRecord record;
      record.work = result.work;
      records.emplace(result.path, std::pair{result, record});
    };
    expect(last_result(item));
    for (const ChainOutput& other : item.others)
      expect(other_result(other));

    RunOptions options = run_;
    options.outputs = item.others;
    options.on_progress = on_progress;
    options.open_input = [&](const std::string&) { return hashed_input.open(); };
    options.open_output = [&](const std::string& path) {
      return std::make_unique<WatchedSink>(
          open_output(path), [&, path](const ContentHash& hash, std::uint64_t bytes) {
            written_.check(path);
            auto& [result, record] = records.at(path);
            const FileContent content = hashed_input.content();
            record.input = content.hash;
            if (content.settled) record.input_stamp = content.stamp;
            record.output = hash;
            record.output_bytes = bytes;
            // Durably, so that a picture that has been replaced is
            // never mistaken for its input.
            journal_->add(result.name, record, item.replaces_input);
          });
    };
    RunReport report = filter_picture(item.input, last_output(item), chain_, dispatcher_, options);
    if (!report.kept) record(records.at(report.output));
    for (const OutputReport& other : report.others) {
      if (!other.kept) record(records.at(other.output));
    }
    return report;
  }

  // Records a failure for `gpufilter gather`; does nothing if the run has no shards.
  void note_failure(const BatchItem& item, const std::string& failure) const {
    if (journal_ == nullptr || !plan_.shard) return;
    try {
      gpufilter::note_failure(*journal_, item.output, failure);
    } catch (const PictureError& error) {
      log::debug(error.what());  // the picture's own failure is reported
    }
  }

 private:
  // An output of a picture, and what the journal knows it by.
  struct Result {
    std::string path;
    std::string name;
    ContentHash work;
  };

  // What the bytes of outputs depend on besides the input.
  using WorkKey = std::tuple<const Codec*, std::size_t, std::optional<std::size_t>>;

  [[nodiscard]] static WorkKey key_of(const ChainOutput& output) {
    return {output.format, output.stages, output.branch};
  }

  void add_work(const ChainOutput& output) {
    if (output.format == nullptr || work_.contains(key_of(output))) return;
    const StageChain stages = chain_to(output, chain_, run_.branches);
    work_[key_of(output)] =
        with_library(work_hash(stages, *output.format, run_.write), *output.format);
  }

  [[nodiscard]] ChainOutput last_output(const BatchItem& item) const {
    return {plan_.output_path(item), item.output_format, item.keep_output, chain_.size()};
  }

  [[nodiscard]] Result last_result(const BatchItem& item) const {
    return {plan_.output_path(item), item.output, work_.at(key_of(last_output(item)))};
  }

  [[nodiscard]] Result other_result(const ChainOutput& other) const {
    return {other.path, plan_.journal_name_of(other), work_.at(key_of(other))};
  }

  [[nodiscard]] bool is_complete(const BatchItem& item, const Result& result) const {
    const auto known = plan_.records.find(result.name);
    if (known == plan_.records.end()) return false;
    return std::any_of(known->second.begin(), known->second.end(),
                       [&](const JournalRecord& record) { return is_true(record, item, result); });
  }

  // Whether `known` describes what is on disk now.
  [[nodiscard]] bool is_true(const JournalRecord& known, const BatchItem& item,
                             const Result& result) const {
    JournalRecord record = known;
    const auto stamp = stamp_of(result.path);
    if (record.work != result.work || !stamp || stamp->bytes != record.output_bytes) return false;
    const Verified written = verify(result.path, record.output_stamp, record.output);
    if (!written.same) return false;
    if (!item.replaces_input) {
      const Verified source = verify(item.input, record.input_stamp, record.input);
      if (!source.same) return false;
      record.input_stamp = source.stamp;
    }
    record.output_stamp = written.stamp;
    // With a new stamp, the next run need not read the file.
    if (journal_ != nullptr && record != known) journal_->add(result.name, record);
    return true;
  }

  // Records a result that is in place, with its stamp. Throws as WrittenFiles::add() does.
  void record(std::pair<Result, JournalRecord>& written) const {
    auto& [result, record] = written;
    written_.add(result.path);
    record.output_stamp = stamp_of(result.path);
    try {
      journal_->add(result.name, record);
    } catch (const PictureError& error) {
      // The picture is in place, and the earlier record has its content hash, so this failure is
      // harmless.
      log::debug(error.what());
    }
  }

  // A pipe would wait for a reader, and a device would swallow the picture.
  [[nodiscard]] static std::unique_ptr<ByteSink> open_output(const std::string& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::exists(status) && std::filesystem::is_other(status)) {
      throw PictureError(path, "already exists and is not a regular file");
    }
    create_parent_folder(path);
    return open_sink(path);
  }

  const BatchPlan& plan_;
  const StageChain& chain_;
  Dispatcher& dispatcher_;
  const RunOptions& run_;
  Journal* journal_;
  std::map<WorkKey, ContentHash> work_;
  mutable WrittenFiles written_;
};

struct JobLimits {
  std::size_t jobs = 1;         // pictures at the same time
  std::size_t threads = 1;      // in total, at least `jobs`
  bool is_below_usual = false;  // whether `threads` has to be enforced
};

// The requested jobs and threads, within the number of pictures and the limits on open files,
// processes and memory. Warns if a limit reduces them.
JobLimits job_limits(const BatchOptions& options, std::size_t pictures) {
  const int wanted_jobs = static_cast<int>(
      std::clamp<std::size_t>(pictures, 1, static_cast<std::size_t>(options.jobs)));
  const int with_files = jobs_within_file_limit(wanted_jobs);
  if (with_files < wanted_jobs) {
    log::info(formatted(
        "pictures in progress: {} instead of {}, because of the limit on open files (ulimit -n)",
        with_files, wanted_jobs));
  }
  const auto jobs = static_cast<std::size_t>(with_files);
  const std::size_t wanted = options.threads > 0 ? static_cast<std::size_t>(options.threads)
                                                 : jobs - 1 + allowed_threads();
  JobLimits limits;
  limits.threads = std::max<std::size_t>(startable_threads(wanted), 1);
  limits.jobs = std::min(jobs, limits.threads);
  limits.is_below_usual = options.threads > 0 || limits.threads < wanted;
  if (limits.jobs < jobs) {
    log::warn(formatted("{} at a time instead of {}: a limit on processes or memory allows no more",
                        counted(limits.jobs, "picture"), jobs));
  }
  return limits;
}

// How many finished pictures may wait to be listed after an earlier, unfinished one.
constexpr std::size_t max_waiting = 1024;

class BatchRun {
 public:
  BatchRun(const BatchPlan& plan, const PictureJobs& jobs, const BatchOptions& options,
           const JobLimits& limits, BatchListener& listener)
      : plan_(plan),
        jobs_(jobs),
        options_(options),
        listener_(listener),
        order_(begin_order()),
        threads_(limits.threads),
        working_(limits.jobs) {
    if (limits.is_below_usual) limit_.emplace(threads_beside(working_));
  }

  void run() {
    {
      const std::size_t jobs = working_;
      const auto threads = start_threads(jobs, [this, &stop = stop_of_this_call()](std::size_t i) {
        const StopScope scope(stop);
        work(static_cast<int>(i));
      });
      leave(jobs - std::max<std::size_t>(threads.size(), 1));
      if (threads.empty()) work(0);
    }
    if (failure_) std::rethrow_exception(failure_);
    for (; listed_ < plan_.items.size(); ++listed_)
      list_the_rest(listed_);
  }

  // Whether pictures remain that were not begun.
  [[nodiscard]] bool is_cut_short() const { return stopped_; }

 private:
  // The largest first, so that no core idles at the end while one picture takes long. In the plan's
  // order if there are more pictures than may wait, or if the first failure ends the run.
  [[nodiscard]] std::vector<std::size_t> begin_order() const {
    std::vector<std::size_t> places(plan_.items.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    if (places.size() > max_waiting || options_.stop_on_error) return places;
    std::stable_sort(places.begin(), places.end(), [this](std::size_t a, std::size_t b) {
      return plan_.items[a].bytes > plan_.items[b].bytes;
    });
    return places;
  }

  void list_the_rest(std::size_t index) {
    const auto finished = waiting_.find(index);
    PictureResult left;
    left.item = &plan_.items[index];
    listener_.listed(finished == waiting_.end() ? left : finished->second);
  }

  void work(int job) {
    while (const auto index = take_next()) {
      try {
        if (!process(*index, job) && !return_picture(*index, job)) break;
      } catch (...) {
        stop(std::current_exception());
      }
    }
    leave(1);
  }

  // Jobs that ended, or that could not be started, leave their threads to the others.
  void leave(std::size_t jobs) {
    const std::lock_guard lock(mutex_);
    working_ -= jobs;
    if (limit_ && working_ > 0) limit_->set(threads_beside(working_));
  }

  // How many threads may work on each of `jobs` pictures. Each job has its own thread; the other
  // threads help all jobs.
  [[nodiscard]] std::size_t threads_beside(std::size_t jobs) const { return threads_ - jobs + 1; }

  std::optional<std::size_t> take_next() {
    std::unique_lock lock(mutex_);
    // The first picture that is not listed is in progress, so somebody will notify.
    changed_.wait(
        lock, [this] { return stopped_ || !returned_.empty() || next_ < listed_ + max_waiting; });
    if (stopped_) return std::nullopt;
    if (!returned_.empty()) {
      const std::size_t index = returned_.back();
      returned_.pop_back();
      return index;
    }
    if (next_ == plan_.items.size()) return std::nullopt;
    return order_[next_++];
  }

  // Leaves a picture for which too many files were open to the other jobs. Returns whether the
  // calling job is the only one left, and goes on.
  bool return_picture(std::size_t index, int job) {
    const std::lock_guard lock(mutex_);
    bytes_under_way_.erase(job);
    returned_.push_back(index);
    changed_.notify_all();
    if (working_ == 1) return true;
    log::info(formatted("too many open files; pictures in progress: {} instead of {}", working_ - 1,
                        working_));
    return false;
  }

  [[nodiscard]] bool is_only_job() {
    const std::lock_guard lock(mutex_);
    return working_ == 1;
  }

  void stop(std::exception_ptr reason) {
    const std::lock_guard lock(mutex_);
    stop_locked(std::move(reason));
  }

  void stop_locked(std::exception_ptr reason) {
    stopped_ = true;
    if (!failure_) failure_ = std::move(reason);
    changed_.notify_all();
  }

  // Makes calls of the listener, under the lock. An exception from it ends the run: the listener is
  // not called again, whatever other threads are about to deliver.
  template <typename Calls>
  void call_listener(const Calls& calls) {
    if (failure_) return;
    try {
      calls();
    } catch (...) {
      stop_locked(std::current_exception());
    }
  }

  // False if too many files were open while other jobs worked: the picture can be begun again.
  bool process(std::size_t index, int job) {
    const bool is_alone = is_only_job();
    const BatchItem& item = plan_.items[index];
    PictureResult result;
    result.item = &item;
    result.job = job;
    const AfterPicture after =
        options_.before_picture ? options_.before_picture(item) : AfterPicture();
    std::optional<RunReport> report;
    const auto fail = [&](const std::string& reason) {
      result.status = PictureStatus::failed;
      result.failure = reason;
      jobs_.note_failure(item, reason);
    };
    try {
      result.status = decide(item);
      if (result.status == PictureStatus::done) report = filter(item, result);
    } catch (const Stopped&) {
      throw;
    } catch (const SystemFailure& error) {
      if (is_out_of_files(error.error()) && !is_alone) return false;
      result.out_of_space = is_out_of_space(error.error());
      fail(error.what());
    } catch (const PictureError& error) {
      fail(error.what());
    } catch (const DeviceError& error) {
      // Without a working device the other pictures would fail too.
      if (!any_done_) throw;
      fail(item.input + ": " + error.what());
    } catch (const std::bad_alloc&) {
      fail(item.input + ": not enough memory for this picture");
    } catch (const std::exception& error) {
      fail(item.input + ": " + error.what());
    }
    if (after) after(result);
    deliver(index, std::move(result), report ? &*report : nullptr);
    return true;
  }

  // The picture's status; `done` if it has yet to be filtered. Throws PictureError.
  [[nodiscard]] PictureStatus decide(const BatchItem& item) const {
    if (!item.problem.empty()) throw PictureError(item.input, item.problem);
    if (item.exists) return PictureStatus::exists;
    if (jobs_.is_complete(item)) return PictureStatus::unchanged;
    return options_.dry_run ? PictureStatus::planned : PictureStatus::done;
  }

  [[nodiscard]] RunReport filter(const BatchItem& item, PictureResult& result) {
    const auto on_progress = [&](std::int64_t done, std::int64_t all) {
      advance(result.job,
              item.bytes * static_cast<std::uint64_t>(done) / static_cast<std::uint64_t>(all));
    };
    RunReport report = jobs_.filter(item, on_progress);
    any_done_ = true;
    result.report = report;
    return report;
  }

  void advance(int job, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes_under_way_[job] = bytes;
    call_listener([this] { report_progress(); });
  }

  void report_progress() {
    std::uint64_t all = 0;
    for (const auto& [job, bytes] : bytes_under_way_)
      all += bytes;
    listener_.advanced(all);
  }

  void deliver(std::size_t index, PictureResult result, const RunReport* report) {
    const std::lock_guard lock(mutex_);
    const bool is_repetition = result.out_of_space && std::exchange(out_of_space_, true);
    if (result.status == PictureStatus::failed && (options_.stop_on_error || result.out_of_space)) {
      stopped_ = true;
    }
    call_listener([&] {
      if (bytes_under_way_.erase(result.job) > 0) report_progress();
      if (is_repetition) return;
      listener_.finished(result, report);
      waiting_.emplace(index, std::move(result));
      list_waiting();
    });
    changed_.notify_all();
  }

  // Lists the finished pictures that no unfinished one precedes.
  void list_waiting() {
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == listed_;
         first = waiting_.erase(first)) {
      listener_.listed(first->second);
      ++listed_;
    }
  }

  const BatchPlan& plan_;
  const PictureJobs& jobs_;
  const BatchOptions& options_;
  BatchListener& listener_;
  std::atomic<bool> any_done_ = false;

  std::mutex mutex_;  // guards the members below, and the listener
  std::condition_variable changed_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> returned_;  // pictures to begin again
  std::size_t next_ = 0;               // index in order_ of the next picture to begin
  std::size_t listed_ = 0;             // number of pictures listed
  std::map<std::size_t, PictureResult> waiting_;
  std::map<int, std::uint64_t> bytes_under_way_;  // by job
  bool stopped_ = false;
  bool out_of_space_ = false;
  std::exception_ptr failure_;
  std::size_t threads_;  // that may be used in total
  std::size_t working_;  // jobs that are at a picture or may begin another
  std::optional<ThreadLimit> limit_;
};

// The folders for results of the last and of the other outputs.
std::set<std::string> folders_of_results(const BatchPlan& plan) {
  std::set<std::string> folders{plan.output};
  const auto add = [&folders](const std::filesystem::path& file) {
    folders.insert(file.parent_path().string());
  };
  for (const BatchItem& item : plan.items) {
    add(plan.output_path(item));
    for (const ChainOutput& other : item.others)
      add(other.path);
  }
  return folders;
}

// Removes temporary files of runs that were killed.
void remove_unfinished(const BatchPlan& plan) {
  int removed = 0;
  if (!plan.shard) {
    // With --recursive also temporary files of pictures that no longer exist.
    if (plan.recursive) removed = remove_abandoned_files(plan.output, true);
    for (const std::string& folder : folders_of_results(plan))
      removed += remove_abandoned_files(folder, false);
  } else if (!plan.shard->dead_processes.empty()) {
    removed = remove_abandoned_files_of(plan.shard->dead_processes, plan.output);
  }
  if (removed == 0) return;
  log::info(formatted("{}: removed {} of interrupted runs", printable(plan.output),
                      counted(removed, "temporary file")));
}

void check_lock(const BatchPlan& plan, const Journal& journal) {
  if (journal.is_locked()) return;
  const bool in_place = std::any_of(plan.items.begin(), plan.items.end(),
                                    [](const BatchItem& item) { return item.replaces_input; });
  if (in_place) {
    throw UsageError(
        formatted("{}: this file system has no locks; without them a second run could filter a "
                  "picture twice, so --in-place is refused here",
                  printable(plan.output)));
  }
  if (plan.shard) return;
  log::warn(
      formatted("{}: this file system has no locks; a second run in this folder would not be "
                "noticed",
                printable(plan.output)));
}

// From here on results may be written.
std::unique_ptr<Journal> open_journal(const BatchPlan& plan) {
  create_folder(plan.output);
  auto journal = plan.shard ? begin_shard_journal(plan.output, plan.shard->shard)
                            : std::make_unique<Journal>(plan.output);
  check_lock(plan, *journal);
  remove_unfinished(plan);
  return journal;
}

// On a full disk, gather then reports that this process did not end; the pictures say why.
void end_shard(Journal& journal) {
  try {
    note_end(journal);
  } catch (const SystemFailure& error) {
    if (!is_out_of_space(error.error())) throw;
    log::debug(error.what());
  }
}

}  // namespace

int jobs_within_file_limit(int jobs) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return jobs;
  const rlim_t taken = open_files() + reserve;
  const rlim_t room = limit.rlim_cur > taken ? (limit.rlim_cur - taken) / files_of_a_job : 0;
  return static_cast<int>(std::clamp<rlim_t>(room, 1, static_cast<rlim_t>(jobs)));
}

std::uint64_t memory_of_jobs(std::uint64_t memory, int jobs) {
  constexpr std::uint64_t enough_for_one = std::uint64_t{16} << 20U;
  return std::max(memory, static_cast<std::uint64_t>(jobs) * enough_for_one);
}

const char* to_string(PictureStatus status) {
  static constexpr std::array names{"done",   "unchanged", "exists",
                                    "failed", "not begun", "planned"};
  return names.at(static_cast<std::size_t>(status));
}

void run_batch(const BatchPlan& plan, const StageChain& chain, Dispatcher& dispatcher,
               const BatchOptions& options, BatchListener& listener) {
  const auto journal = options.dry_run ? nullptr : open_journal(plan);
  const JobLimits limits = job_limits(options, plan.items.size());
  RunOptions run = options.run;
  run.max_memory /= static_cast<std::uint64_t>(limits.jobs);
  const PictureJobs jobs(plan, chain, dispatcher, run, journal.get());
  dispatcher.expect_folder(
      std::accumulate(plan.items.begin(), plan.items.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const BatchItem& item) { return sum + item.bytes; }));
  if (journal && !plan.shard) journal->begin_run(plan.work);
  BatchRun batch(plan, jobs, options, limits, listener);
  batch.run();
  if (journal && plan.shard) end_shard(*journal);
  if (journal && !plan.shard && !batch.is_cut_short()) journal->end_run();
  dispatcher.conclude();
}

}  // namespace gpufilter
