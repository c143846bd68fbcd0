// What a folder's results were made of: with it, a run that was stopped continues where it was.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/posix_file.hpp"
#include "batch/file_content.hpp"

namespace gpufilter {

// One result. It is recorded before the result takes its place (without a stamp, which does not
// exist yet) and again after: whenever the program is killed, the journal and the bytes on the disk
// together say which results are complete.
struct JournalRecord {
  ContentHash work;  // stages, format, versions: see work_hash() in batch_plan.hpp
  ContentHash input;
  std::optional<FileStamp> input_stamp;  // where it can stand for the contents
  ContentHash output;
  std::uint64_t output_bytes = 0;
  std::optional<FileStamp> output_stamp;

  bool operator==(const JournalRecord&) const = default;
};

// By the result's path, relative to the folder. Later records replace earlier ones.
using JournalRecords = std::unordered_map<std::string, JournalRecord>;

// All that several journals say of a result: the bytes on the disk decide which record is true.
using KnownRecords = std::unordered_map<std::string, std::vector<JournalRecord>>;

// The journal's own name in the folder.
inline constexpr const char* journal_name = ".gpufilter-journal";

// A record as one line, with a checksum in front, and back. Nothing where the line is damaged or
// was written by a program with other hashes.
[[nodiscard]] std::string journal_line(const std::string& output, const JournalRecord& record);
[[nodiscard]] std::optional<std::pair<std::string, JournalRecord>> parse_journal_line(
    std::string_view line);

// The intact lines of the journal in `folder`; none where there is no journal. Throws PictureError
// where it cannot be read.
[[nodiscard]] JournalRecords read_journal(const std::string& folder);

// Appends to a journal; safe to use from several threads.
class Journal {
 public:
  // The journal in `folder`. Keeps others from writing to the same folder at the same time: throws
  // UsageError where another program does, PictureError where the journal cannot be written. A
  // journal most of whose lines have been replaced by later ones, or are damaged, is rewritten
  // without them.
  explicit Journal(const std::string& folder);

  // The journal `path` of one of several processes that write to `folder`, which begins with
  // `first_line`. Keeps programs out that want the folder for themselves, and throws as above.
  Journal(const std::string& folder, const std::string& path, const std::string& first_line);

  // Whether the lock on the folder is held. Some file systems keep none.
  [[nodiscard]] bool is_locked() const { return is_locked_; }

  // Where `durably`, the line survives a power cut once this returns. Throws PictureError.
  void add(const std::string& output, const JournalRecord& record, bool durably = false);
  // All of them durably. Throws PictureError.
  void add_all(const JournalRecords& records);
  // A line of another kind, sealed, without its end.
  void write_line(const std::string& line, bool durably = false);

 private:
  [[nodiscard]] FileDescriptor open_locked(const std::string& folder, int lock);
  void compact();

  std::string path_;
  std::mutex mutex_;
  FileDescriptor folder_lock_;  // where the journal is not the folder's own
  FileDescriptor file_;
  bool is_locked_ = false;
  bool torn_ = false;  // the last line is not complete
};

}  // namespace gpufilter
