// The files in OUTDIR/.gpufilter-shards, through which the shards of one run cooperate:
//
//   run              the run: its inputs, its work, its listing. The first shard creates it
//                    atomically (link(2)); that keeps other runs out without a lock.
//   listing-HASH     the pictures of the run, a PictureList: every shard takes its share of these.
//   I-of-N-TOKEN     the journal of one process that works on shard I/N. Only that process writes
//                    to it, so it needs no lock to stay intact. A retry has a journal of its own.
//                    It begins with a line "start1" and, if its process ended normally, ends with a
//                    line "end1". In between are the lines of JournalRecord, and "failed1" for each
//                    failure.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/content_hash.hpp"
#include "batch/journal.hpp"
#include "batch/picture_list.hpp"
#include "batch/shard.hpp"

namespace gpufilter {

inline constexpr const char* shards_name = ".gpufilter-shards";

struct ShardRun {
  ContentHash id;              // hash of the inputs and the work
  ContentHash listing;         // hash of the listing's text
  std::string input;           // INDIR as given
  std::string format;          // the formats of all results, with commas; empty: names decide
  std::string working_folder;  // the other paths are relative to it
  std::string command;         // quoted for a shell, without --shard and --list
  std::vector<ContentHash> works = {};  // JournalRecord::work of its results
  bool keeps_existing = false;          // results that existed before are treated as done
  std::string name = {};                // the NameTemplate of the results; empty: none
  std::string sizes = {};               // of the results, with commas; empty: one

  bool operator==(const ShardRun&) const = default;
};

// The run in the output folder; nothing if there is none. Throws PictureError if it cannot be read.
[[nodiscard]] std::optional<ShardRun> read_shard_run(const std::string& output);

// The run's pictures. Throws PictureError if the listing cannot be read or is damaged.
[[nodiscard]] PictureList read_run_listing(const std::string& output, const ShardRun& run);

// Makes `run` the run of the folder, which has to exist. Returns the folder's run afterwards:
// another process may have been first. Throws PictureError.
[[nodiscard]] ShardRun publish_shard_run(const std::string& output, const ShardRun& run,
                                         const PictureList& listing);

// One process that works or worked on a shard.
struct ShardProcess {
  Shard shard;
  std::string token;  // its process_token(), which is in the names of its temporary files
  std::string host;
  std::int64_t process = 0;
  std::int64_t began = 0;  // microseconds since the epoch: a retry may follow at once

  bool operator==(const ShardProcess&) const = default;
};

struct ShardJournal {
  ShardProcess process;
  bool ended = false;    // it ended normally, even if pictures failed
  bool at_work = false;  // it holds the lock of its journal; always false on a file system that
                         // does not keep locks between machines
  JournalRecords records;
  std::map<std::string, std::string> failures;  // "PATH: REASON" by output, unless done later
};

// The journals of the folder's run for the shards that `wanted` accepts, the oldest first. Journals
// whose first line is damaged are left out. Throws PictureError.
[[nodiscard]] std::vector<ShardJournal> read_shard_journals(
    const std::string& output, const std::function<bool(const Shard&)>& wanted);

// Visits the same journals one by one, in no particular order, without keeping them in memory.
void visit_shard_journals(const std::string& output,
                          const std::function<bool(const Shard&)>& wanted,
                          const std::function<void(ShardJournal)>& visit);

// Begins this process's journal for `shard`; .gpufilter-shards has to exist. Throws like Journal.
[[nodiscard]] std::unique_ptr<Journal> begin_shard_journal(const std::string& output,
                                                           const Shard& shard);

// Write the lines "failed1" and "end1". Throw PictureError.
void note_failure(Journal& journal, const std::string& output, const std::string& failure);
void note_end(Journal& journal);

}  // namespace gpufilter
