#include "lab/forced_tuning.hpp"

#include <utility>

namespace gpufilter::lab {

std::optional<KernelTuning::Choice> ForcedTuning::choose(
    const KernelSite& site, std::span<const KernelCandidate> candidates) const {
  const std::lock_guard lock(mutex_);
  OfThread& mine = threads_[std::this_thread::get_id()];
  const std::string key = site.key();
  mine.sites.try_emplace(key, Site{site, {candidates.begin(), candidates.end()}});
  if (key != mine.forced_site) return std::nullopt;
  return Choice{mine.forced, "to be tried"};
}

void ForcedTuning::force(const std::string& site_key, std::size_t index) {
  const std::lock_guard lock(mutex_);
  OfThread& mine = threads_[std::this_thread::get_id()];
  mine.forced_site = site_key;
  mine.forced = index;
}

void ForcedTuning::force_none() {
  force({}, 0);
}

std::map<std::string, ForcedTuning::Site> ForcedTuning::take_sites() {
  const std::lock_guard lock(mutex_);
  return std::exchange(threads_[std::this_thread::get_id()].sites, {});
}

}  // namespace gpufilter::lab
