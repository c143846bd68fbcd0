#include "pipeline/make_engine.hpp"

#include "base/log.hpp"
#include "device/cache_folder.hpp"

namespace gpufilter {

EngineOptions default_engine_options() {
  EngineOptions options;
  if (const auto folder = cache_folder()) options.cache = ProgramCache(*folder / "programs");
  return options;
}

std::unique_ptr<Engine> make_engine(const std::string& device, bool require_device,
                                    const EngineOptions& options) {
  if (device == "reference") {
    return std::make_unique<Engine>(choose_devices(device, require_device, {}), options);
  }
  const auto choose = [device, require_device, catalog = device_catalog()] {
    DeviceCandidates candidates(device, require_device, catalog);
    if (device == "auto" && !candidates.at(0)->device) {
      log::warn(
          "no OpenCL device found (see 'gpufilter devices'); falling back to the C++ reference");
    }
    return candidates;
  };
  return std::make_unique<Engine>(choose, options);
}

}  // namespace gpufilter
