// Filters one picture of a run and records it in the journal.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "batch/batch_plan.hpp"
#include "pipeline/run.hpp"

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
  // Whether `known` describes what is on disk now.
  [[nodiscard]] bool is_true(const JournalRecord& known, const BatchItem& item) const;
  [[nodiscard]] std::unique_ptr<ByteSink> open_output(const std::string& path) const;

  const BatchPlan& plan_;
  const StageChain& chain_;
  const RunOptions& run_;
  Journal* journal_;
  std::map<const Codec*, ContentHash> work_;  // by output format
};

}  // namespace gpufilter
