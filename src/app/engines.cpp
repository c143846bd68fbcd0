#include "app/engines.hpp"

#include <algorithm>

#include "pipeline/make_engine.hpp"

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

EngineOptions engine_options(const FilterOptions& options) {
  EngineOptions engine = default_engine_options();
  engine.band_rows = options.band_rows;
  return engine;
}

void add_engines(Engines& engines, const FilterOptions& options) {
  const EngineOptions engine = engine_options(options);
  if (options.device == "all") {
    const auto all = choose_devices("all", options.require_device, discover_devices());
    for (Candidates& candidates : one_each(all))
      engines.push_back(std::make_unique<Engine>(std::move(candidates), engine));
  } else if (options.chain.empty() && options.device == "auto" && !options.require_device) {
    // No device is needed, and none is looked for.
    engines.push_back(
        std::make_unique<Engine>(Candidates{{std::nullopt, "no stage to run"}}, engine));
  } else {
    engines.push_back(make_engine(options.device, options.require_device, engine));
  }
}

// Engines that are never destroyed: reachable for good, so no leak.
Engines& lasting() {
  static auto* const engines = new Engines;  // NOLINT(cppcoreguidelines-owning-memory)
  return *engines;
}

}  // namespace

LastingEngines::LastingEngines(const FilterOptions& options) : engines_(lasting()) {
  add_engines(engines_, options);
}

LastingEngines::~LastingEngines() {
  for (const auto& engine : engines_)
    engine->await_start();
}

}  // namespace gpufilter
