#include "batch/picture_job.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/error.hpp"
#include "base/log.hpp"
#include "batch/hashed_input.hpp"
#include "batch/output_folder.hpp"
#include "batch/shard_journal.hpp"

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
  for (const Codec* codec : codecs())
    work_[codec] = work_hash(chain, *codec, run.write);
}

bool PictureJobs::is_complete(const BatchItem& item) const {
  const auto known = plan_.records.find(item.output);
  if (known == plan_.records.end()) return false;
  return std::any_of(known->second.begin(), known->second.end(),
                     [&](const JournalRecord& record) { return is_true(record, item); });
}

bool PictureJobs::is_true(const JournalRecord& known, const BatchItem& item) const {
  JournalRecord record = known;
  const std::string output = plan_.output_path(item);
  const auto stamp = stamp_of(output);
  if (record.work != work_.at(item.output_format) || !stamp || stamp->bytes != record.output_bytes)
    return false;
  const Verified result = verify(output, record.output_stamp, record.output);
  if (!result.same) return false;
  if (!item.replaces_input) {
    const Verified source = verify(item.input, record.input_stamp, record.input);
    if (!source.same) return false;
    record.input_stamp = source.stamp;
  }
  record.output_stamp = result.stamp;
  // With a new stamp, the next run need not read the file.
  if (journal_ != nullptr && record != known) journal_->add(item.output, record);
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
  const std::string input = item.input;
  const std::string output = plan_.output_path(item);
  HashedInput hashed_input(input);
  JournalRecord record;
  record.work = work_.at(item.output_format);

  RunOptions options = run_;
  options.on_progress = on_progress;
  options.open_input = [&](const std::string&) { return hashed_input.open(); };
  options.open_output = [&](const std::string& path) {
    return std::make_unique<WatchedSink>(open_output(path),
                                         [&](const ContentHash& hash, std::uint64_t bytes) {
                                           const FileContent content = hashed_input.content();
                                           record.input = content.hash;
                                           if (content.settled) record.input_stamp = content.stamp;
                                           record.output = hash;
                                           record.output_bytes = bytes;
                                           // Durably, so that a picture that has been replaced is
                                           // never mistaken for its input.
                                           journal_->add(item.output, record, item.replaces_input);
                                         });
  };
  RunReport report = filter_picture(input, output, item.output_format, chain_, dispatcher, options);
  record.output_stamp = stamp_of(output);
  try {
    journal_->add(item.output, record);
  } catch (const PictureError& error) {
    // The picture is in place, and the earlier record holds the hash of its contents.
    log::debug(error.what());
  }
  return report;
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
