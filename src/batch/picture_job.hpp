// One picture of a folder, with its entry in the journal.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "batch/batch_plan.hpp"
#include "pipeline/run.hpp"

namespace gpufilter {

// What all pictures of a run share.
class PictureJobs {
 public:
  // All outlive it. Without `journal` nothing may be written.
  PictureJobs(const BatchPlan& plan, const StageChain& chain, const RunOptions& run,
              Journal* journal);

  // Whether the result is complete since an earlier run: made from these very contents by the same
  // work, and unchanged since. Throws PictureError where the files cannot be read.
  [[nodiscard]] bool is_complete(const BatchItem& item) const;

  // Filters the picture and records that in the journal. Throws as filter_picture() does, and
  // PictureError where the input changes meanwhile.
  [[nodiscard]] RunReport filter(const BatchItem& item, Dispatcher& dispatcher,
                                 const OnProgress& on_progress) const;

  // For whoever gathers the shards; nothing in other runs.
  void note_failure(const BatchItem& item, const std::string& failure) const;

 private:
  // Whether `known` describes what is on the disk now.
  [[nodiscard]] bool is_true(const JournalRecord& known, const BatchItem& item) const;
  [[nodiscard]] std::unique_ptr<ByteSink> open_output(const std::string& path) const;

  const BatchPlan& plan_;
  const StageChain& chain_;
  const RunOptions& run_;
  Journal* journal_;
  std::map<const Codec*, ContentHash> work_;  // by the result's format
};

}  // namespace gpufilter
