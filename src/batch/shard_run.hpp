// The files in OUTDIR/.gpufilter-shards, through which the shards of one run cooperate:
//
//   run              the run: its inputs, its work, its listing. The first shard creates it
//                    atomically (link(2)); that keeps other runs out without a lock.
//   listing-HASH     the pictures of the run, a PictureList: every shard takes its share of these.
//   I-of-N-TOKEN     the journal of one process that works on shard I/N. Only that process writes
//                    to it, so it needs no lock to stay intact. A retry has a journal of its own.
//                    See shard_journal.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/content_hash.hpp"
#include "batch/picture_list.hpp"

namespace gpufilter {

inline constexpr const char* shards_name = ".gpufilter-shards";

struct ShardRun {
  ContentHash id;              // hash of the inputs and the work
  ContentHash listing;         // hash of the listing's text
  std::string input;           // INDIR as given
  std::string format;          // the format of all results; empty: each result's name decides
  std::string working_folder;  // the other paths are relative to it
  std::string command;         // quoted for a shell, without --shard and --list
  std::vector<ContentHash> works = {};  // JournalRecord::work of its results, one for each format
  bool keeps_existing = false;          // results that existed before count as done
  std::string name = {};                // the NameTemplate of the results; empty: none

  bool operator==(const ShardRun&) const = default;
};

// The run in the output folder; nothing if there is none. Throws PictureError if it cannot be read.
[[nodiscard]] std::optional<ShardRun> read_shard_run(const std::string& output);

// The run's pictures. Throws PictureError if the listing cannot be read or is damaged.
[[nodiscard]] PictureList read_run_listing(const std::string& output, const ShardRun& run);

// Makes `run` the run of the folder, which has to exist. Returns the run that the folder holds
// afterwards: another process may have been first. Throws PictureError.
[[nodiscard]] ShardRun publish_shard_run(const std::string& output, const ShardRun& run,
                                         const PictureList& listing);

}  // namespace gpufilter
