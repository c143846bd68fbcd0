// What a process that works on a shard notes in OUTDIR/.gpufilter-shards (see shard_run.hpp). A
// journal begins with a line "start1" and, where its process came to an end by itself, ends with a
// line "end1". In between are the lines of JournalRecord, and "failed1" for each failure.
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
  std::string token;  // its process_token(), which its temporary files bear
  std::string host;
  std::int64_t process = 0;
  std::int64_t began = 0;  // seconds since the epoch

  bool operator==(const ShardProcess&) const = default;
};

struct ShardJournal {
  ShardProcess process;
  bool ended = false;    // it came to its end, whatever that was
  bool at_work = false;  // it holds the lock of its journal: false means nothing where the file
                         // system does not keep locks between machines
  JournalRecords records;
  std::map<std::string, std::string> failures;  // "PATH: REASON" by output, unless done later
};

// The journals of the folder's run, in the order of their beginning; `wanted` says of which shards.
// Journals whose first line is damaged are left out. Throws PictureError.
[[nodiscard]] std::vector<ShardJournal> read_shard_journals(
    const std::string& output, const std::function<bool(const Shard&)>& wanted);

// The same one after the other, in any order, for those who need not keep them all.
void visit_shard_journals(const std::string& output,
                          const std::function<bool(const Shard&)>& wanted,
                          const std::function<void(ShardJournal)>& visit);

// Begins the journal of this process for `shard`; .gpufilter-shards exists. Throws as Journal does.
[[nodiscard]] std::unique_ptr<Journal> begin_shard_journal(const std::string& output,
                                                           const Shard& shard);

// Lines of its own; throw PictureError.
void note_failure(Journal& journal, const std::string& output, const std::string& failure);
void note_end(Journal& journal);

}  // namespace gpufilter
