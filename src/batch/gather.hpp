// The end of a run in shards: what became of its pictures, and one journal for all of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "batch/shard.hpp"
#include "batch/shard_journal.hpp"

namespace gpufilter {

// A picture of the run without its result, that no process is working on.
struct UnfinishedPicture {
  std::string input;    // its path
  std::string output;   // relative to the folder of results
  Shard shard;          // that it belongs to
  std::string failure;  // "PATH: REASON"; empty: it was not done, or its result is no longer there
};

struct GatherReport {
  std::string output;         // the folder of results
  bool has_run = false;       // a run in shards is there; else only the folder's own journal
  std::size_t pictures = 0;   // of the run; without one, those in the folder's journal
  std::size_t done = 0;       // with the very result that the journals name
  std::size_t under_way = 0;  // of shards that are being worked on
  std::size_t processes = 0;  // that have worked on shards
  std::vector<UnfinishedPicture> unfinished;  // in the order of the listing
  std::vector<ShardProcess> at_work;          // processes that hold the lock of their journal
  // Processes that left unfinished pictures without coming to their end: killed, or at work where
  // the file system keeps no locks.
  std::vector<ShardProcess> stopped;
  std::vector<std::string> commands;  // that do what is unfinished, a shard each
  bool busy = false;                  // all is done, but another program writes to the folder
  bool gathered = false;              // all is done, and the folder's journal says so

  [[nodiscard]] bool complete() const { return done == pictures && at_work.empty() && !busy; }
};

// Looks at the result of every picture of the run that the folder `output` holds. Once every
// picture is done and no process is at work, what the shards' journals say is copied into the
// folder's own, and they are removed after that is safely on the disk. Killed at any time, or
// started twice, it loses nothing; before that end it changes nothing. Throws UsageError where
// `output` is not a folder or no gpufilter has written there, PictureError where something cannot
// be read or written.
[[nodiscard]] GatherReport gather_shards(const std::string& output);

}  // namespace gpufilter
