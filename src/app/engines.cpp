#include "app/engines.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "device/cache_folder.hpp"

namespace gpufilter {
namespace {

using Candidates = std::vector<DeviceCandidate>;

// For each device its own candidates: itself first, then what takes its place.
std::vector<Candidates> one_each(const Candidates& all) {
  std::vector<Candidates> each;
  for (std::size_t i = 0; i < all.size() && all[i].device; ++i) {
    Candidates own = all;
    std::rotate(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(i),
                own.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    each.push_back(std::move(own));
  }
  return each;
}

std::vector<Candidates> candidates_for(const FilterOptions& options) {
  const bool automatic = options.device == "auto" && !options.require_device;
  // No device is needed, and none is looked for.
  if (options.chain.empty() && automatic) return {{{std::nullopt, "no stage to run"}}};
  const bool reference = options.device == "reference";
  auto candidates = choose_devices(options.device, options.require_device,
                                   reference ? std::vector<DeviceInfo>{} : discover_devices());
  if (automatic && !candidates.front().device) {
    log::warn(
        "no OpenCL device found (see 'gpufilter devices'); falling back to the C++ reference");
  }
  if (options.device == "all") return one_each(candidates);
  return {std::move(candidates)};
}

}  // namespace

std::vector<std::unique_ptr<Engine>> make_engines(const FilterOptions& options) {
  EngineOptions engine;
  engine.band_rows = options.band_rows;
  if (const auto folder = cache_folder()) engine.cache = ProgramCache(*folder / "programs");
  std::vector<std::unique_ptr<Engine>> engines;
  for (Candidates& candidates : candidates_for(options)) {
    engines.push_back(std::make_unique<Engine>(std::move(candidates), engine));
  }
  return engines;
}

}  // namespace gpufilter
