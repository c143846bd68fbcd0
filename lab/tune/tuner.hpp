// Times the candidates of kernels on a device with some work (a stage, statistics, matrix products)
// and keeps the fastest.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/timeline.hpp"
#include "compute/matrix_product.hpp"
#include "compute/picture_statistics.hpp"
#include "device/device_info.hpp"
#include "device/kernel_figures.hpp"
#include "device/session.hpp"
#include "device/stores.hpp"
#include "image/image.hpp"
#include "pipeline/choose/machine_rates.hpp"
#include "stage/stage.hpp"

namespace gpufilter::lab {

// Work on one device with kernels that the session's tuning chooses. Every choice has to give the
// processor's result. All methods throw DeviceError, and UsageError if the choice does not fit the
// device.
class TuneSubject {
 public:
  virtual ~TuneSubject() = default;

  // Builds the kernels, which queries the tuning, and discards them.
  virtual void build() const = 0;

  // Runs small cases. Returns the first difference from the processor's result, if any.
  [[nodiscard]] virtual std::optional<std::string> check() = 0;

  // Builds the kernels for the timed work.
  virtual void begin() = 0;
  // Does the timed work once; returns milliseconds by OpenCL's profiling.
  [[nodiscard]] virtual double run() = 0;
  // How its result differs from those parts of the processor's that were computed, if it does.
  [[nodiscard]] virtual std::optional<std::string> check_timed() = 0;
};

// A stage on pictures of this format. `session` has to outlive the subject, here and below.
[[nodiscard]] std::unique_ptr<TuneSubject> make_stage_subject(Session& session,
                                                              std::shared_ptr<const Stage> stage,
                                                              const PixelFormat& format);

// Statistics of pictures of this format.
[[nodiscard]] std::unique_ptr<TuneSubject> make_statistics_subject(Session& session,
                                                                   Quantity quantity,
                                                                   const PixelFormat& format);

// Products of matrices of this shape.
[[nodiscard]] std::unique_ptr<TuneSubject> make_product_subject(Session& session,
                                                                const MatrixShape& shape);

// The size of pictures for measurements.
[[nodiscard]] ImageSize timing_size(const DeviceInfo& device);

// The stage, or the stage that it resolves to for a random picture.
[[nodiscard]] std::shared_ptr<const Stage> measured_stage(std::shared_ptr<const Stage> stage,
                                                          const PixelFormat& format);

struct TriedCandidate {
  enum class Outcome { timed, wrong, not_built };
  KernelCandidate candidate = {};
  Outcome outcome = Outcome::timed;
  double milliseconds = 0;          // the median of several runs
  std::string difference = {};      // the position of a wrong sample, or why it was not built
  std::uint64_t spilled_bytes = 0;  // of a work-item's registers, at most; 0 also if unknown
};

struct TunedSite {
  KernelSite site;
  bool known = false;                                // tuned before, so nothing was tried
  std::size_t candidates = 0;                        // if nothing was known
  std::vector<TriedCandidate> tried = {};            // in their order, the usual one first
  std::optional<TunedKernel> chosen = std::nullopt;  // none if no candidate is correct
};

// The fastest correct candidate, with the time of the next best.
[[nodiscard]] std::optional<TunedKernel> fastest(const std::vector<TriedCandidate>& tried);

// The highest number of bytes that a work-item of one of the kernels spills; 0 also if unknown.
[[nodiscard]] std::uint64_t spilled_bytes(const std::vector<KernelFigures>& kernels);

// In which order `count` candidates are tried: 0, then the others, neighbours far from each other.
[[nodiscard]] std::vector<std::size_t> trying_order(std::size_t count);

class ForcedTuning;

class Tuner {
 public:
  using OnCandidate =
      std::function<void(const std::string& site, std::size_t done, std::size_t all)>;

  // Nobody else may use `session`: its tuning is replaced.
  Tuner(std::shared_ptr<Session> session, std::shared_ptr<TuningStore> store);

  // Tries every candidate of the kernels that `subject` runs: compiles it with its constants,
  // checks that it gives the processor's bits, and times it. Saves the fastest in the store. A site
  // that is already in the store is tried only with `again`. From `end` on, each site tries only
  // the usual candidate, and is not saved; those tried before are from all over the list.
  // Throws DeviceError if the device fails altogether.
  [[nodiscard]] std::vector<TunedSite> tune(TuneSubject& subject, bool again,
                                            std::optional<Nanoseconds> end,
                                            const OnCandidate& on_candidate);

 private:
  [[nodiscard]] std::vector<TriedCandidate> try_all(TuneSubject& subject, const std::string& site,
                                                    const std::vector<KernelCandidate>& candidates,
                                                    std::optional<Nanoseconds> end,
                                                    const OnCandidate& on_candidate);

  std::shared_ptr<Session> session_;
  std::shared_ptr<TuningStore> store_;
  std::shared_ptr<ForcedTuning> tuning_;
};

struct TuneReport {
  DeviceInfo device;
  std::vector<TunedSite> sites;

  [[nodiscard]] bool any_wrong() const;
};

[[nodiscard]] std::string tune_table(const std::vector<TuneReport>& reports);
[[nodiscard]] std::string tune_json(const std::vector<TuneReport>& reports);

// Measures the stage with such pixels, and transfers if there is a device; `rates` learn as from
// runs. `session` is nullptr for the processor.
void measure_stage(MachineRates& rates, Session* session, const std::shared_ptr<const Stage>& stage,
                   const PixelFormat& format);

// Measures the device's time per byte read or written while it copies a large buffer.
void measure_copy(RateStore& store, Session& session);

}  // namespace gpufilter::lab
