#include "pipeline/make_dispatcher.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "base/log.hpp"
#include "device/cache_folder.hpp"
#include "device/vendors.hpp"
#include "pipeline/fleet.hpp"

namespace gpufilter {
namespace {

std::shared_ptr<RateStore> make_store() {
  const auto folder = cache_folder();
  return folder ? std::make_shared<RateStore>(*folder / "rates.json")
                : std::make_shared<RateStore>();
}

// The installed OpenCL vendors but PoCL: where there is none there is no GPU.
std::string vendor_names() {
  return format("{}", fmt::join(installed_vendors().libraries, ", "));
}

std::vector<DeviceInfo> find_gpus() {
  std::vector<DeviceInfo> devices = discover_devices();
  devices.erase(
      std::remove_if(devices.begin(), devices.end(),
                     [](const DeviceInfo& device) { return device.kind != DeviceKind::gpu; }),
      devices.end());
  return devices;
}

bool names_kernel(const StageChain& chain) {
  return std::any_of(chain.begin(), chain.end(),
                     [](const auto& stage) { return stage->names_kernel(); });
}

}  // namespace

EngineOptions default_engine_options() {
  EngineOptions options;
  if (const auto folder = cache_folder()) options.cache = ProgramCache(*folder / "programs");
  return options;
}

std::unique_ptr<Engine> make_engine(const std::string& device, bool require_device,
                                    const EngineOptions& options) {
  if (device == "cpu")
    return std::make_unique<Engine>(choose_devices(device, require_device, {}), options);
  const auto choose = [device, require_device, catalog = device_catalog()] {
    DeviceCandidates candidates(device, require_device, catalog);
    if (!candidates.at(0)->device) {
      log::warn_of_fallback(format("{} (see 'gpufilter devices'); the processor does the work",
                                   candidates.at(0)->reason));
    }
    return candidates;
  };
  return std::make_unique<Engine>(choose, options);
}

std::unique_ptr<Dispatcher> make_dispatcher(const std::string& device, bool require_device,
                                            const StageChain& chain, const EngineOptions& options) {
  const bool means_opencl = device == "auto" && (require_device || names_kernel(chain));
  if (means_opencl) return make_dispatcher("opencl", require_device, chain, options);
  const std::string vendors = device == "cpu" ? std::string() : vendor_names();
  if (device == "all") {
    return std::make_unique<WholeFleet>(FleetOptions{options, make_store(), vendors}, find_gpus,
                                        require_device);
  }
  if (device == "auto") {
    return std::make_unique<FastestFleet>(FleetOptions{options, make_store(), vendors},
                                          [options] { return make_engine("gpu", false, options); });
  }
  return std::make_unique<SoleDispatcher>(make_engine(device, require_device, options),
                                          make_store(), vendors);
}

}  // namespace gpufilter
