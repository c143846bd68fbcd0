// Filters one picture of a run and records it in the journal.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "batch/batch_plan.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// The work on the pictures of a run, and what they share.
class PictureJobs {
 public:
  // All arguments have to outlive this object. Without `journal` nothing may be written.
  PictureJobs(const BatchPlan& plan, const StageChain& chain, const RunOptions& run,
              Journal* journal);

  // Whether an earlier run completed the result: it was made from the same contents by the same
  // work and has not changed since. Throws PictureError if the files cannot be read.
  [[nodiscard]] bool is_complete(const BatchItem& item) const;

  // Filters the picture and records that in the journal. Throws as filter_picture() does, and
  // PictureError if the input changes meanwhile.
  [[nodiscard]] RunReport filter(const BatchItem& item, Dispatcher& dispatcher,
                                 const OnProgress& on_progress) const;

  // Records a failure for `gpufilter gather`; does nothing if the run has no shards.
  void note_failure(const BatchItem& item, const std::string& failure) const;

 private:
  // An output of a picture, and what the journal knows it by.
  struct Result {
    std::string path;
    std::string name;
    ContentHash work;
  };

  [[nodiscard]] Result last_result(const BatchItem& item) const;
  [[nodiscard]] Result other_result(const ChainOutput& other) const;
  [[nodiscard]] bool is_complete(const BatchItem& item, const Result& result) const;
  // Whether `known` describes what is on disk now.
  [[nodiscard]] bool is_true(const JournalRecord& known, const BatchItem& item,
                             const Result& result) const;
  void record(std::pair<Result, JournalRecord>& written) const;
  [[nodiscard]] std::unique_ptr<ByteSink> open_output(const std::string& path) const;

  const BatchPlan& plan_;
  const StageChain& chain_;
  const RunOptions& run_;
  Journal* journal_;
  // By output format and number of stages.
  std::map<std::pair<const Codec*, std::size_t>, ContentHash> work_;
};

}  // namespace gpufilter
