// What is to be done with a folder or several pictures, found and checked before anything is done.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "batch/journal.hpp"
#include "batch/picture_list.hpp"
#include "batch/shard.hpp"
#include "batch/shard_run.hpp"
#include "codec/codec_table.hpp"
#include "pipeline/plan.hpp"

namespace gpufilter {

// What to do where an output already exists.
enum class OnExists { fail, skip, overwrite };

// A share of one folder, which other processes take the rest of.
struct ShardRequest {
  Shard shard;
  std::string source;              // who said so, for reports
  std::vector<ContentHash> works;  // of the results in each format: see work_hash()
  std::string command;             // as in ShardRun
};

struct BatchRequest {
  std::vector<std::string> inputs;  // files and folders, at least one
  std::string output;               // a folder, which need not exist yet
  bool recursive = false;
  bool follow_links = false;
  std::vector<std::string> patterns;  // see FolderScan
  // A file with a PictureList of the one folder that is given; empty: folders are searched.
  std::string list;
  const Codec* to = nullptr;  // nullptr: the format that each output's name says
  OnExists on_exists = OnExists::fail;
  bool in_place = false;  // the folders may be one, and pictures replaced by their results
  bool resume = false;    // skip what is complete according to the journals
  std::optional<ShardRequest> shard;  // of the one folder that is given, which is not `output`
};

struct BatchItem {
  std::string input;                     // its path
  std::string output;                    // relative to the output folder
  const Codec* output_format = nullptr;  // nullptr: the input cannot be read
  std::uint64_t bytes = 0;               // of the input
  bool exists = false;                   // the output exists and is left alone
  bool replaces_input = false;
  std::string problem = {};  // why the input cannot be read; empty: it can
};

struct PlannedShard {
  Shard shard;
  std::string source;
  ShardRun run;                  // that it is a share of
  bool has_begun = false;        // the folder of the results holds the run
  PictureList listing;           // of the run, until it has begun
  std::uint64_t bytes = 0;       // of the share
  std::size_t all_pictures = 0;  // of the run
  std::uint64_t all_bytes = 0;
  // Their tokens; they left the shard, or another division of the run, unfinished.
  std::set<std::string, std::less<>> dead_processes;
};

struct BatchPlan {
  std::vector<std::string> inputs;
  std::string output;
  bool recursive = false;
  std::vector<BatchItem> items;  // input by input, of a folder sorted by their relative paths
  KnownRecords records;          // of earlier runs; empty unless they are to be resumed
  std::optional<PlannedShard> shard;
  std::size_t unmatched = 0;  // as in ScanResult, of all folders
  std::size_t not_entered = 0;

  [[nodiscard]] std::string output_path(const BatchItem& item) const;
};

// Looks through the folders; changes nothing. Throws UsageError, naming the files, where the output
// is not a folder, does not exist and is named like a picture, or is an input folder without
// `in_place`, where `in_place` comes with several inputs, where two pictures have one output, where
// an output's name says no format, is one of the inputs, or already exists and on_exists is fail;
// PictureError where a folder or the journal cannot be read.
[[nodiscard]] BatchPlan make_batch_plan(const BatchRequest& request);

// Everything but the input's content that decides the bytes of a result: the stages, the format
// with its options, and the versions of the program and of the codecs' libraries.
[[nodiscard]] ContentHash work_hash(const StageChain& chain, const Codec& output_format,
                                    const WriteOptions& options);

}  // namespace gpufilter
