// The journal of a process that works on a shard, in OUTDIR/.gpufilter-shards (see shard_run.hpp).
// It begins with a line "start1" and, if its process ended normally, ends with a line "end1". In
// between are the lines of JournalRecord, and "failed1" for each failure.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "batch/journal.hpp"
#include "batch/shard.hpp"

namespace gpufilter {

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
