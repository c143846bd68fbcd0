// Forces each candidate of a kernel in turn, to verify and to time it. Every thread has its own
// choices.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/kernel_tuning.hpp"

namespace gpufilter::lab {

class ForcedTuning final : public KernelTuning {
 public:
  struct Site {
    KernelSite site;
    std::vector<KernelCandidate> candidates;
  };

  [[nodiscard]] std::optional<Choice> choose(
      const KernelSite& site, std::span<const KernelCandidate> candidates) const override {
    const std::lock_guard lock(mutex_);
    OfThread& mine = threads_[std::this_thread::get_id()];
    const std::string key = site.key();
    mine.sites.try_emplace(key, Site{site, {candidates.begin(), candidates.end()}});
    if (key != mine.forced_site) return std::nullopt;
    return Choice{mine.forced, "to be tried"};
  }

  // From now on this thread chooses candidate `index` at this site, and the usual one elsewhere.
  void force(const std::string& site_key, std::size_t index) {
    const std::lock_guard lock(mutex_);
    OfThread& mine = threads_[std::this_thread::get_id()];
    mine.forced_site = site_key;
    mine.forced = index;
  }
  // Every site uses its usual kernel again.
  void force_none() { force({}, 0); }

  // The sites that this thread has requested since the last call, by key.
  [[nodiscard]] std::map<std::string, Site> take_sites() {
    const std::lock_guard lock(mutex_);
    return std::exchange(threads_[std::this_thread::get_id()].sites, {});
  }

 private:
  struct OfThread {
    std::map<std::string, Site> sites;
    std::string forced_site;
    std::size_t forced = 0;
  };
  mutable std::mutex mutex_;
  mutable std::map<std::thread::id, OfThread> threads_;
};

}  // namespace gpufilter::lab
