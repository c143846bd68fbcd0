// What is to be done with a folder, found and checked before anything is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batch/folder_scan.hpp"
#include "batch/journal.hpp"
#include "codec/codec.hpp"
#include "pipeline/plan.hpp"

namespace gpufilter {

// Where an output is there already.
enum class OnExists { fail, skip, overwrite };

struct BatchRequest {
  std::string input;   // a folder
  std::string output;  // a folder, which need not be there yet
  bool recursive = false;
  std::vector<std::string> patterns;  // see FolderScan
  std::optional<FileFormat> to;       // nothing: as the input
  OnExists on_exists = OnExists::fail;
  bool in_place = false;  // the folders may be one, and pictures replaced by their results
  bool resume = false;    // what the journal knows to be complete is not done again
};

struct BatchItem {
  std::string relative;  // to the input folder
  std::string output;    // relative to the output folder
  FileFormat output_format = FileFormat::png;
  std::uint64_t bytes = 0;   // of the input
  bool exists = false;       // the output is there and is to be left alone
  std::string problem = {};  // why the input cannot be read; empty: it can
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
// is no folder, is the input folder and may not be, where two pictures have one output, where an
// output is one of the inputs, or is there already and may not be; PictureError where a folder or
// the journal cannot be read.
[[nodiscard]] BatchPlan make_batch_plan(const BatchRequest& request);

// Everything beside the input's content that decides the bytes of a result: the stages, the format
// and how it is written, and the versions of the program and the libraries that encode.
[[nodiscard]] ContentHash work_hash(const StageChain& chain, FileFormat output_format,
                                    const WriteOptions& options);

}  // namespace gpufilter
