// Records what a folder's results were made from, so that a run that was stopped can be resumed.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/files.hpp"
#include "batch/file_content.hpp"

namespace gpufilter {

// Lines of journals are words separated by spaces, protected by a checksum.

// Bytes that are read of a journal or a list of pictures. A picture takes some 250.
constexpr std::uint64_t largest_journal = std::uint64_t{4} << 30U;

// `text` after its checksum, as one line without a line end; and back: nothing if the line is
// damaged.
[[nodiscard]] std::string sealed(const std::string& text);
[[nodiscard]] std::optional<std::string_view> unsealed(std::string_view line);

// How much of a journal cannot be read.
struct Damage {
  std::size_t lines = 0;    // of all kinds, including damaged ones
  std::size_t damaged = 0;  // whose checksum is wrong

  // "is damaged: 2 of 7 lines cannot be read"
  [[nodiscard]] std::string text() const;
};

// Counts the lines of a journal. An incomplete last line is not damage: its writer was killed.
[[nodiscard]] Damage damage_in(std::string_view journal);

// Any bytes as one word without spaces, line ends or other control characters; and back: nothing
// if `text` is not such a word.
[[nodiscard]] std::string escaped(std::string_view bytes);
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text);

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// One result. It is recorded before the result is moved into place (without a stamp, which does not
// exist yet) and again afterwards: whenever the program is killed, the journal and the bytes on
// disk together show which results are complete.
struct JournalRecord {
  ContentHash work;  // stages, format, versions: see work_hash() in batch_plan.hpp
  ContentHash input;
  std::optional<FileStamp> input_stamp;  // if it identifies the contents
  ContentHash output;
  std::uint64_t output_bytes = 0;
  std::optional<FileStamp> output_stamp;

  bool operator==(const JournalRecord&) const = default;
};

// The work of a run on its pictures, without versions of the program and libraries.
struct RunWork {
  ContentHash stages;
  ContentHash options;  // of formats

  bool operator==(const RunWork&) const = default;
};

// The run that wrote last.
struct LastRun {
  RunWork work;
  bool ended = false;  // otherwise pictures of it remain
};

// Records by the result's path, relative to the folder. Later records replace earlier ones.
using JournalRecords = std::unordered_map<std::string, JournalRecord>;

// All records of a result in several journals: the bytes on disk decide which one is valid.
using KnownRecords = std::unordered_map<std::string, std::vector<JournalRecord>>;

// The name of the journal's file in the folder.
inline constexpr const char* journal_name = ".gpufilter-journal";

// A record as one line that begins with a checksum, and back. Nothing if the line is damaged or
// was written by a version with other hashes.
[[nodiscard]] std::string journal_line(const std::string& output, const JournalRecord& record);
[[nodiscard]] std::optional<std::pair<std::string, JournalRecord>> parse_journal_line(
    std::string_view line);

// The intact lines of the journal in `folder`; empty if there is no journal. Sets `damage`, if it
// is given, to a description of the damaged lines. Throws PictureError if it cannot be read.
[[nodiscard]] JournalRecords read_journal(const std::string& folder, Damage* damage = nullptr);

// The last run; nothing if there is no journal, or one of an earlier version.
[[nodiscard]] std::optional<LastRun> read_last_run(const std::string& folder);

// As read_journal(), with a warning if lines are damaged.
[[nodiscard]] JournalRecords read_journal_with_warning(const std::string& folder);

// Appends to a journal. Thread-safe.
class Journal {
 public:
  // Opens the journal in `folder` and locks it against other writers. Throws UsageError if another
  // program is writing to the folder, PictureError if the journal cannot be written. If later lines
  // replace most of its lines, or some are damaged, it is rewritten without them.
  explicit Journal(const std::string& folder);

  // Creates the journal `path` of one of several processes that write to `folder`; it begins with
  // `first_line`. Locks the folder against programs that need it exclusively. Throws as above.
  Journal(const std::string& folder, const std::string& path, const std::string& first_line);

  // Notes with the first record that a run of this work has begun; and that no picture of it
  // remains. Throw as add() does.
  void begin_run(const RunWork& work);
  void end_run();

  // Whether the lock on the folder is held. Some file systems have no locks.
  [[nodiscard]] bool is_locked() const { return is_locked_; }

  // With `durably`, the line survives a power failure once this returns. Throws PictureError.
  void add(const std::string& output, const JournalRecord& record, bool durably = false);
  // Adds all records and syncs them to disk. Throws PictureError.
  void add_all(const JournalRecords& records);
  // Writes a line of another kind: sealed(), without a line end.
  void write_line(const std::string& line, bool durably = false);

 private:
  [[nodiscard]] FileDescriptor open_locked(const std::string& folder, int lock);
  void compact();

  std::string path_;
  void append(const std::string& line, bool durably);

  std::mutex mutex_;
  std::string run_line_;        // to be written before the first record
  bool run_begun_ = false;      // by this object, or by an earlier run that was interrupted
  FileDescriptor folder_lock_;  // open if the journal is not the folder's own
  FileDescriptor file_;
  bool is_locked_ = false;
  bool torn_ = false;  // the last line is incomplete
};

}  // namespace gpufilter
