// Times the candidates of kernels on a device and keeps the fastest.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/session.hpp"
#include "device/tuning_store.hpp"
#include "pipeline/tune_subject.hpp"

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

class ForcedTuning;

class Tuner {
 public:
  using OnCandidate =
      std::function<void(const std::string& site, std::size_t done, std::size_t all)>;

  // `session` is the tuner's alone: its tuning is replaced.
  Tuner(std::shared_ptr<Session> session, std::shared_ptr<TuningStore> store);

  // Tries every candidate of the kernels that `subject` runs: it is compiled with its constants,
  // has to give the processor's bits, and is timed. Keeps the fastest in the store and saves it. A
  // site that is in the store already is tried only where `again`. Throws DeviceError where the
  // device fails altogether.
  [[nodiscard]] std::vector<TunedSite> tune(TuneSubject& subject, bool again,
                                            const OnCandidate& on_candidate);

 private:
  [[nodiscard]] std::vector<TriedCandidate> try_all(TuneSubject& subject, const std::string& site,
                                                    const std::vector<KernelCandidate>& candidates,
                                                    const OnCandidate& on_candidate);

  std::shared_ptr<Session> session_;
  std::shared_ptr<TuningStore> store_;
  std::shared_ptr<ForcedTuning> tuning_;
};

}  // namespace gpufilter
