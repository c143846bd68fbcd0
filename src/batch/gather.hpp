// The end of a run in shards: checks that all pictures are done, and merges the shards' journals.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "batch/shard.hpp"
#include "batch/shard_run.hpp"

namespace gpufilter {

// A picture of the run that has no result and that no process is working on.
struct UnfinishedPicture {
  std::string input;    // its path
  std::string output;   // relative to the folder of results
  Shard shard;          // the picture's shard
  std::string failure;  // "PATH: REASON"; empty if it was never done or its result has gone
};

struct GatherReport {
  std::string output;         // the output folder
  bool has_run = false;       // it holds a run in shards; otherwise only the folder's own journal
  std::size_t pictures = 0;   // of the run; without one, those in the folder's journal
  std::size_t done = 0;       // pictures with exactly the recorded result
  std::size_t under_way = 0;  // missing pictures of shards that a process is working on
  std::size_t processes = 0;  // all that have worked on shards
  std::vector<UnfinishedPicture> unfinished;  // in the order of the listing
  std::vector<ShardProcess> at_work;          // processes that hold the lock of their journal
  // Processes that left pictures unfinished and did not end normally: killed, or still at work on a
  // file system without locks.
  std::vector<ShardProcess> stopped;
  std::vector<std::string> commands;  // one for each shard that is unfinished, to finish it
  bool busy = false;                  // all is done, but another program is writing to the folder
  bool gathered = false;              // all is done, and the folder's journal records it

  [[nodiscard]] bool complete() const { return done == pictures && at_work.empty() && !busy; }
};

// Checks the result of every picture of the run that the folder `output` holds. Once every picture
// is done and no process is at work, copies the shards' journals into the folder's own and, when
// that is safely on disk, removes them. Until then it changes nothing. It may be killed at any time
// or started twice without loss. Throws UsageError if `output` is not a folder or gpufilter has
// never written there, PictureError if something cannot be read or written.
[[nodiscard]] GatherReport gather_shards(const std::string& output);

}  // namespace gpufilter
