// Every candidate of a kernel in turn: to verify and to time them. Each thread has choices of its
// own.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device/kernel_tuning.hpp"

namespace gpufilter {

class ForcedTuning final : public KernelTuning {
 public:
  struct Site {
    KernelSite site;
    std::vector<KernelCandidate> candidates;
  };

  [[nodiscard]] std::optional<Choice> choose(
      const KernelSite& site, std::span<const KernelCandidate> candidates) const override;

  // Lets this thread choose candidate `index` at this site from now on, everywhere else the usual
  // one.
  void force(const std::string& site_key, std::size_t index);
  // Every site takes its usual kernel again.
  void force_none();

  // The sites that asked on this thread since the last call, by key.
  [[nodiscard]] std::map<std::string, Site> take_sites();

 private:
  struct OfThread {
    std::map<std::string, Site> sites;
    std::string forced_site;
    std::size_t forced = 0;
  };
  mutable std::mutex mutex_;
  mutable std::map<std::thread::id, OfThread> threads_;
};

}  // namespace gpufilter
