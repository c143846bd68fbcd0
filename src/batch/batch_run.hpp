// A folder of pictures, several at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batch/batch_plan.hpp"
#include "pipeline/run.hpp"

namespace gpufilter {

enum class PictureStatus {
  done,
  unchanged,  // complete since an earlier run
  exists,     // the output existed and is left alone
  failed,
  not_begun,  // stopped before
  planned     // would be done, were it not for dry_run
};
[[nodiscard]] const char* to_string(PictureStatus status);

struct PictureResult {
  const BatchItem* item = nullptr;
  PictureStatus status = PictureStatus::not_begun;
  std::string failure;  // "PATH: reason"
  int job = 0;          // which of the pictures under way at a time, from 0
  // Of those done:
  const Codec* input_format = nullptr;
  ImageSize size;
  PixelFormat output_pixel;
  std::uint64_t output_bytes = 0;
  std::optional<EncodingNotes> encoding;  // how the result was written
  std::string device;
  Nanoseconds duration = 0;
};

// Called with what happens, by one thread at a time. What it throws ends the run and leaves
// run_batch().
class BatchListener {
 public:
  BatchListener() = default;
  virtual ~BatchListener() = default;
  BatchListener(const BatchListener&) = delete;
  BatchListener& operator=(const BatchListener&) = delete;

  // As soon as a picture is finished. `report` is not nullptr where it was done.
  virtual void finished(const PictureResult& result, const RunReport* report) = 0;
  // Now and then: how many bytes of the unfinished inputs are done, in proportion to the rows.
  virtual void advanced(std::uint64_t bytes_under_way) = 0;
  // Every picture once more, in the order of the plan.
  virtual void listed(const PictureResult& result) = 0;
};

struct BatchOptions {
  RunOptions run;   // of each picture; max_memory is for all together
  int jobs = 1;     // pictures under way at a time
  int threads = 0;  // in all, at least as many as jobs; 0: as many as allowed_threads() says
  bool stop_on_error = false;
  bool dry_run = false;  // only says what would be done
};

// Carries out the plan: makes folders, keeps the journal, removes what killed runs left behind.
// A picture that fails leaves the others alone. Throws UsageError where another run is writing to
// the output folder, PictureError where that cannot be written to, DeviceError where no picture
// could be done because the device does not work.
void run_batch(const BatchPlan& plan, const StageChain& chain, Dispatcher& dispatcher,
               const BatchOptions& options, BatchListener& listener);

}  // namespace gpufilter
