// What the shards of one run share in OUTDIR/.gpufilter-shards, and what each of them notes there:
//
//   run              the run: its inputs, its work, its listing. Made by the shard that comes
//                    first, in one step (link(2)), which keeps other runs out without any lock.
//   listing-HASH     the pictures of the run, a PictureList: every shard takes its share of these.
//   I-of-N-TOKEN     the journal of one process that works on shard I/N. Only that process writes
//                    to it, so it needs no lock to stay whole. A retry has a journal of its own.
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
  ContentHash id;              // of the inputs and of the work, see BatchRequest::run
  ContentHash listing;         // of the listing's text
  std::string input;           // INDIR, as it was given
  std::string format;          // the name of the format of all results; empty: as their names say
  std::string working_folder;  // which the other paths are relative to
  std::string command;         // as a shell takes it, without --shard and --list
  std::vector<ContentHash> works = {};  // JournalRecord::work of its results, each format's
  bool keeps_existing = false;          // results that existed before count as done

  bool operator==(const ShardRun&) const = default;
};

// The run that the folder of results holds; nothing where there is none. Throws PictureError where
// it cannot be read.
[[nodiscard]] std::optional<ShardRun> read_shard_run(const std::string& output);

// Its pictures. Throws PictureError where they cannot be read, or are not those of the run.
[[nodiscard]] PictureList read_run_listing(const std::string& output, const ShardRun& run);

// Makes `run` the run of the folder, which exists. Returns the run that the folder holds then:
// another process may have been first. Throws PictureError.
[[nodiscard]] ShardRun publish_shard_run(const std::string& output, const ShardRun& run,
                                         const PictureList& listing);

}  // namespace gpufilter
