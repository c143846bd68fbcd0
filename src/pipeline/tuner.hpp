// Times the candidates of a stage's kernels on a device and keeps the fastest.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/session.hpp"
#include "device/tuning_store.hpp"
#include "image/image.hpp"
#include "stages/stage_samples.hpp"

namespace gpufilter {

struct TriedCandidate {
  enum class Outcome { timed, wrong, not_built };
  KernelCandidate candidate = {};
  Outcome outcome = Outcome::timed;
  double milliseconds = 0;      // the median of several runs
  std::string difference = {};  // the place of a wrong sample, or why it was not built
};

struct TunedSite {
  KernelSite site;
  bool known = false;                                // tuned before: nothing was tried now
  std::vector<TriedCandidate> tried = {};            // the usual one first
  std::optional<TunedKernel> chosen = std::nullopt;  // none if no candidate is correct
};

// The fastest correct candidate, with the time of the next best.
[[nodiscard]] std::optional<TunedKernel> fastest(const std::vector<TriedCandidate>& tried);

// Random pixels, opaque, for measurements; as large as suits the device.
[[nodiscard]] Image timing_picture(ImageSize size, const PixelFormat& format);
[[nodiscard]] ImageSize timing_size(const DeviceInfo& device);

// The stage, or what it becomes once it knows a random picture.
[[nodiscard]] std::shared_ptr<const Stage> resolved_stage(std::shared_ptr<const Stage> stage,
                                                          const PixelFormat& format);

class Tuner {
 public:
  using OnCandidate =
      std::function<void(const std::string& site, std::size_t done, std::size_t all)>;

  // `session` is the tuner's alone: its tuning is replaced.
  Tuner(std::shared_ptr<Session> session, std::shared_ptr<TuningStore> store);

  // Tries every candidate of the kernels that `stage` runs on pictures of this format: it is
  // compiled with its constants, has to give the bits of the processor's baseline, and is timed on
  // a picture that suits the device. Keeps the fastest in the store and saves it. A site that is in
  // the store already is tried only where `again`. Throws DeviceError where the device fails
  // altogether.
  [[nodiscard]] std::vector<TunedSite> tune(const std::shared_ptr<const Stage>& stage,
                                            const PixelFormat& format, bool again,
                                            const OnCandidate& on_candidate);

 private:
  class Trial;
  std::shared_ptr<Session> session_;
  std::shared_ptr<TuningStore> store_;
};

}  // namespace gpufilter
