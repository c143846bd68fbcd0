// What is to be done with a folder or several pictures, found and checked before anything is done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batch/folder_scan.hpp"
#include "batch/journal.hpp"
#include "codec/codec_table.hpp"
#include "pipeline/plan.hpp"

namespace gpufilter {

// What to do where an output already exists.
enum class OnExists { fail, skip, overwrite };

struct BatchRequest {
  std::vector<std::string> inputs;  // files and folders, at least one
  std::string output;               // a folder, which need not exist yet
  bool recursive = false;
  bool follow_links = false;
  std::vector<std::string> patterns;  // see FolderScan
  const Codec* to = nullptr;          // nullptr: the format that each output's name says
  OnExists on_exists = OnExists::fail;
  bool in_place = false;  // the folders may be one, and pictures replaced by their results
  bool resume = false;    // skip what is complete according to the journal
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

struct BatchPlan {
  std::vector<std::string> inputs;
  std::string output;
  bool recursive = false;
  std::vector<BatchItem> items;  // input by input, of a folder sorted by their relative paths
  JournalRecords records;        // of earlier runs; empty unless they are to be resumed
  std::size_t unmatched = 0;     // as in ScanResult, of all folders
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
