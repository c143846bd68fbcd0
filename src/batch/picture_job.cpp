#include "batch/picture_job.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "batch/file_content.hpp"
#include "batch/output_folder.hpp"
#include "batch/shard_run.hpp"

namespace gpufilter {
namespace {

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
  std::optional<FileStamp> stamp;  // the current one, if it can stand for the contents
};

// Whether the file's contents have `hash`: by its stamp if that decides it, otherwise by its bytes.
Verified verify(const std::string& path, const std::optional<FileStamp>& stamp,
                const ContentHash& hash) {
  if (stamp && stamp_of(path) == stamp) return {true, stamp};
  const FileContent content = content_of(path);
  if (content.hash != hash) return {};
  return {true, content.settled ? std::optional(content.stamp) : std::nullopt};
}

}  // namespace

PictureJobs::PictureJobs(const BatchPlan& plan, const StageChain& chain, const RunOptions& run,
                         Journal* journal)
    : plan_(plan), chain_(chain), run_(run), journal_(journal) {
  const auto add = [&](const Codec* codec, std::size_t stages) {
    if (codec == nullptr || work_.contains({codec, stages})) return;
    const StageChain part(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(stages));
    work_[{codec, stages}] = with_library(work_hash(part, *codec, run.write), *codec);
  };
  for (const BatchItem& item : plan.items) {
    add(item.output_format, chain.size());
    for (const ChainOutput& other : item.others)
      add(other.format, other.stages);
  }
}

PictureJobs::Result PictureJobs::last_result(const BatchItem& item) const {
  return {plan_.output_path(item), item.output, work_.at({item.output_format, chain_.size()})};
}

PictureJobs::Result PictureJobs::other_result(const ChainOutput& other) const {
  return {other.path, plan_.journal_name_of(other), work_.at({other.format, other.stages})};
}

bool PictureJobs::is_complete(const BatchItem& item) const {
  return (item.keep_output || is_complete(item, last_result(item))) &&
         std::all_of(item.others.begin(), item.others.end(), [&](const ChainOutput& other) {
           return other.keep || is_complete(item, other_result(other));
         });
}

bool PictureJobs::is_complete(const BatchItem& item, const Result& result) const {
  const auto known = plan_.records.find(result.name);
  if (known == plan_.records.end()) return false;
  return std::any_of(known->second.begin(), known->second.end(),
                     [&](const JournalRecord& record) { return is_true(record, item, result); });
}

bool PictureJobs::is_true(const JournalRecord& known, const BatchItem& item,
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

void PictureJobs::note_failure(const BatchItem& item, const std::string& failure) const {
  if (journal_ == nullptr || !plan_.shard) return;
  try {
    gpufilter::note_failure(*journal_, item.output, failure);
  } catch (const PictureError& error) {
    log::debug(error.what());  // the picture's own failure is reported
  }
}

RunReport PictureJobs::filter(const BatchItem& item, Dispatcher& dispatcher,
                              const OnProgress& on_progress) const {
  HashedInput hashed_input(item.input);
  std::vector<Result> results{last_result(item)};
  for (const ChainOutput& other : item.others)
    results.push_back(other_result(other));
  std::map<std::string, std::pair<Result, JournalRecord>> records;  // by path
  for (const Result& result : results) {
    JournalRecord record;
    record.work = result.work;
    records.emplace(result.path, std::pair{result, record});
  }

  RunOptions options = run_;
  options.outputs = item.others;
  options.keep_last_output = item.keep_output;
  options.on_progress = on_progress;
  options.open_input = [&](const std::string&) { return hashed_input.open(); };
  options.open_output = [&](const std::string& path) {
    return std::make_unique<WatchedSink>(open_output(path),
                                         [&, path](const ContentHash& hash, std::uint64_t bytes) {
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
  RunReport report = filter_picture(item.input, results.front().path, item.output_format, chain_,
                                    dispatcher, options);
  if (!report.kept) record(records.at(report.output));
  for (const OutputReport& other : report.others) {
    if (!other.kept) record(records.at(other.output));
  }
  return report;
}

// Records a result that is in place, with its stamp.
void PictureJobs::record(std::pair<Result, JournalRecord>& written) const {
  auto& [result, record] = written;
  record.output_stamp = stamp_of(result.path);
  try {
    journal_->add(result.name, record);
  } catch (const PictureError& error) {
    // The picture is in place, and the earlier record holds the hash of its contents.
    log::debug(error.what());
  }
}

// A pipe would wait for a reader, and a device would swallow the picture.
std::unique_ptr<ByteSink> PictureJobs::open_output(const std::string& path) const {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && std::filesystem::is_other(status)) {
    throw PictureError(path, "already exists and is not a regular file");
  }
  create_parent_folder(path);
  return open_sink(path);
}

}  // namespace gpufilter
