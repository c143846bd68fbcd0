#include "pipeline/forced_tuning.hpp"

#include <utility>

namespace gpufilter {

std::optional<KernelTuning::Choice> ForcedTuning::choose(
    const KernelSite& site, std::span<const KernelCandidate> candidates) const {
  const std::lock_guard lock(mutex_);
  const std::string key = site.key();
  sites_.try_emplace(key, Site{site, {candidates.begin(), candidates.end()}});
  if (key != forced_site_) return std::nullopt;
  return Choice{forced_, "to be tried"};
}

void ForcedTuning::force(const std::string& site_key, std::size_t index) {
  const std::lock_guard lock(mutex_);
  forced_site_ = site_key;
  forced_ = index;
}

void ForcedTuning::force_none() {
  force({}, 0);
}

std::map<std::string, ForcedTuning::Site> ForcedTuning::take_sites() {
  const std::lock_guard lock(mutex_);
  return std::exchange(sites_, {});
}

}  // namespace gpufilter
