// Filters the pictures of a plan, several at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "batch/batch_plan.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// How many of `jobs` pictures may be in progress at the same time so that all files that they need
// can be open; at least 1.
[[nodiscard]] int jobs_within_file_limit(int jobs);

// The memory for the bands of `jobs` pictures: `memory`, but enough for each. A higher limit would
// allow more rows to be decoded before a GPU has started, but freeing that much pinned memory costs
// the time that this gains.
[[nodiscard]] std::uint64_t memory_of_jobs(std::uint64_t memory, int jobs);

enum class PictureStatus {
  done,
  unchanged,  // already complete from an earlier run
  exists,     // the output existed and was kept
  failed,
  not_begun,  // the run stopped before it
  planned     // would be filtered without dry_run
};
[[nodiscard]] const char* to_string(PictureStatus status);

// The outcome for one picture of a plan.
struct PictureResult {
  const BatchItem* item = nullptr;
  PictureStatus status = PictureStatus::not_begun;
  std::string failure = {};   // "PATH: reason"
  bool out_of_space = false;  // it failed because the disk is full, and the run ends
  int job = 0;                // the number of the job that did it, from 0
  PictureReport report = {};  // of a picture that is done, or whose header was read for a plan
};

// Receives the events of a run, from one thread at a time. An exception from it ends the run and
// propagates out of run_batch().
class BatchListener {
 public:
  BatchListener() = default;
  virtual ~BatchListener() = default;
  BatchListener(const BatchListener&) = delete;
  BatchListener& operator=(const BatchListener&) = delete;

  // As soon as a picture is finished. `report` is nullptr unless its status is done.
  virtual void finished(const PictureResult& result, const RunReport* report) = 0;
  // From time to time: how many bytes of the unfinished inputs are done, in proportion to the rows.
  virtual void advanced(std::uint64_t bytes_under_way) = 0;
  // Every picture once, in the order of the plan.
  virtual void listed(const PictureResult& result) = 0;
};

// Called by the job that has finished a picture, whatever its status, before the listener is.
using AfterPicture = std::function<void(const PictureResult& result)>;
// Called by the job that is about to begin a picture; several jobs call it at the same time. It may
// be called again for a picture that could not be begun.
using BeforePicture = std::function<AfterPicture(const BatchItem& item)>;

struct BatchOptions {
  RunOptions run;   // for each picture; all of them share max_memory
  int jobs = 1;     // pictures in progress at the same time
  int threads = 0;  // in total, at least `jobs`; 0: allowed_threads()
  bool stop_on_error = false;
  bool dry_run = false;               // only report what would be done
  BeforePicture before_picture = {};  // may be empty; neither it nor what it returns may throw
};

// Carries out the plan: creates folders, keeps the journal, removes temporary files of interrupted
// runs. A picture that fails does not affect the others, unless the disk is full: then no more are
// begun, and those in progress that no longer fit count as not begun. If too many files are open,
// fewer pictures are in progress. Throws UsageError if another run is writing to
// the output folder, PictureError if the folder cannot be written to, DeviceError if the device
// does not work and no picture was finished.
void run_batch(const BatchPlan& plan, const StageChain& chain, Dispatcher& dispatcher,
               const BatchOptions& options, BatchListener& listener);

}  // namespace gpufilter
