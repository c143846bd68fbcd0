// Runs the passes of a plan on a band.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/timeline.hpp"
#include "image/image.hpp"
#include "image/jpeg_coding.hpp"
#include "pipeline/plan/plan.hpp"

namespace gpufilter {

// The amount of work of a pass, for estimates; see StageCost.
struct PassWork {
  Rate rate;
  double operations = 0;  // over the whole picture
  double literals = 0;    // numbers written into its program
};

// How one pass, or several fused passes, were executed: for the report of every run.
struct PassReport : CodeDescription {
  std::string stage = {};           // "color", "color + levels"
  int walk = 0;                     // how many times the picture was walked through before
  std::vector<PassWork> work = {};  // of each stage
};

// The report before the executor runs.
[[nodiscard]] PassReport describe_pass(const Pass& pass);
[[nodiscard]] PassReport describe_measuring(const Plan& plan);
// Describes a step of JpegEncoder, for a plan with a coding.
[[nodiscard]] PassReport describe_coding(const Plan& plan, std::size_t step);
// The variant of a stage on the processor: its label and the instruction set.
[[nodiscard]] std::string host_variant(const std::string& label);

class BandExecutor {
 public:
  virtual ~BandExecutor() = default;

  // Memory for bands, of the kind that suits the device best.
  [[nodiscard]] virtual ImagePool& pool() = 0;

  // Fills `target`, the rows of a band, from `source`, the band's first window. Safe to call from
  // several threads for different bands. Throws DeviceError.
  virtual void run(const ConstRows& source, const MutableRows& target) = 0;

  // For a plan with a coding: the coded data of `band`. Nothing if they are too large: then it
  // fills the rows that `target` returns.
  using TakeRows = std::function<MutableRows()>;
  [[nodiscard]] virtual std::optional<CodedRows> run_coded(const ConstRows& source,
                                                           const RowRange& band,
                                                           const TakeRows& target);

  // For a plan that measures: runs the passes and adds the rows `band` of their result to the
  // statistics. Equally thread-safe.
  virtual void measure(const ConstRows& source, const RowRange& band) = 0;
  // The statistics of all bands measured so far; no thread may be measuring.
  [[nodiscard]] virtual PictureStatistics statistics() = 0;

  // Whether it decodes the picture: then the sources of run() and measure() need no pixels.
  [[nodiscard]] virtual bool decodes() const { return false; }

  // The steps of decoding, if it decodes; the passes of the plan; then the measuring or the coding,
  // if the plan has one.
  [[nodiscard]] virtual const std::vector<PassReport>& passes() const = 0;
};

// The processor, with this program's own loops. Without `timeline` it times nothing and stays on
// the calling thread: for callers that divide the rows themselves. `plan` and `timeline` have to
// outlive the executor, here and below.
[[nodiscard]] std::unique_ptr<BandExecutor> make_host_executor(const Plan& plan,
                                                               Timeline* timeline);

// The device of `session`, with the kernels of all passes built; with `fuse`, neighbouring passes
// share a kernel where they can. If `scan` is given, the picture's, the device decodes it if it
// can. Throws DeviceError, UsageError, PictureError.
[[nodiscard]] std::unique_ptr<BandExecutor> make_device_executor(const Plan& plan, Session& session,
                                                                 Timeline& timeline,
                                                                 bool fuse = true,
                                                                 const JpegScan* scan = nullptr);

}  // namespace gpufilter
