// What is to be done with a folder, found and checked before anything is.
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
  std::string input;   // a folder
  std::string output;  // a folder, which need not exist yet
  bool recursive = false;
  std::vector<std::string> patterns;  // see FolderScan
  const Codec* to = nullptr;          // nullptr: the format of each input
  OnExists on_exists = OnExists::fail;
  bool in_place = false;  // the folders may be one, and pictures replaced by their results
  bool resume = false;    // skip what is complete according to the journal
};

struct BatchItem {
  std::string relative;                  // to the input folder
  std::string output;                    // relative to the output folder
  const Codec* output_format = nullptr;  // nullptr: unknown, the input cannot be read
  std::uint64_t bytes = 0;               // of the input
  bool exists = false;                   // the output exists and is left alone
  std::string problem = {};              // why the input cannot be read; empty: it can
};

struct BatchPlan {
  std::string input;
  std::string output;
  bool one_folder = false;  // input and output are the same
  bool recursive = false;
  std::vector<BatchItem> items;  // sorted by the bytes of `relative`
  JournalRecords records;        // of earlier runs; empty unless they are to be resumed

  [[nodiscard]] std::string input_path(const BatchItem& item) const;
  [[nodiscard]] std::string output_path(const BatchItem& item) const;
  // Whether the picture is replaced by its result.
  [[nodiscard]] bool replaces_input(const BatchItem& item) const {
    return one_folder && item.relative == item.output;
  }
};

// Looks through the folders; changes nothing. Throws UsageError, naming the files, where the output
// is not a folder, or is the input folder without `in_place`, where two pictures have one output,
// where an output is one of the inputs, or already exists and on_exists is fail; PictureError where
// a folder or the journal cannot be read.
[[nodiscard]] BatchPlan make_batch_plan(const BatchRequest& request);

// Everything but the input's content that decides the bytes of a result: the stages, the format
// with its options, and the versions of the program and of the codecs' libraries.
[[nodiscard]] ContentHash work_hash(const StageChain& chain, const Codec& output_format,
                                    const WriteOptions& options);

}  // namespace gpufilter
