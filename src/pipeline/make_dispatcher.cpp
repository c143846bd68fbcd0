#include "pipeline/make_dispatcher.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "base/log.hpp"
#include "device/cache_folder.hpp"
#include "device/pocl_environment.hpp"
#include "device/vendors.hpp"
#include "host/instruction_set.hpp"
#include "pipeline/fleet.hpp"

namespace gpufilter {
namespace {

std::vector<DeviceInfo> gpus_of(DeviceCatalog catalog) {
  std::vector<DeviceInfo> devices = catalog.find_all();
  for (const DeviceInfo& device : devices) {
    if (!device.unusable.empty() && device.platform != pocl_platform)
      log::warn_of_fallback(formatted("{}: {}", device.name, device.unusable));
  }
  std::erase_if(devices, [](const DeviceInfo& device) { return device.kind != DeviceKind::gpu; });
  return devices;
}

using Warn = void (*)(std::string_view line);

// Looks for `device`, which is not cpu, in `catalog`; calls `warn` if there is none.
std::unique_ptr<Engine> engine_on(const std::string& device, bool require_device,
                                  const DeviceCatalog& catalog, const EngineOptions& options,
                                  Warn warn) {
  const auto choose = [device, require_device, catalog, warn] {
    DeviceCandidates candidates(device, require_device, catalog, node_variables());
    if (!candidates.at(0)->device) {
      warn(formatted("{} (see 'gpufilter devices'); the processor does the work",
                     candidates.at(0)->reason));
    }
    return candidates;
  };
  return std::make_unique<Engine>(choose, options);
}

bool names_kernel(const StageChain& chain) {
  return std::any_of(chain.begin(), chain.end(),
                     [](const auto& stage) { return stage->names_kernel(); });
}

}  // namespace

std::shared_ptr<RateStore> make_rate_store() {
  const auto folder = cache_folder();
  return folder ? std::make_shared<RateStore>(*folder / "rates.json")
                : std::make_shared<RateStore>();
}

std::shared_ptr<TuningStore> make_tuning_store() {
  const auto folder = cache_folder();
  return folder ? std::make_shared<TuningStore>(*folder / "tuning.json")
                : std::make_shared<TuningStore>();
}

std::string gpu_vendors() {
  return formatted("{}", fmt::join(installed_vendors().libraries, ", "));
}

EngineOptions default_engine_options() {
  EngineOptions options;
  if (const auto folder = cache_folder()) options.cache = ProgramCache(*folder / "programs");
  options.tuning = make_tuning_store();
  return options;
}

std::unique_ptr<Engine> make_engine(const std::string& device, bool require_device,
                                    const EngineOptions& options) {
  if (device == "cpu")
    return std::make_unique<Engine>(choose_devices(device, require_device, {}), options);
  return engine_on(device, require_device, device_catalog(), options, log::warn_of_fallback);
}

std::unique_ptr<Dispatcher> make_dispatcher(const std::string& device, bool require_device,
                                            const StageChain& chain, const EngineOptions& options) {
  // A name of a set that this machine does not have is reported before any picture is touched.
  static_cast<void>(instruction_set());
  const bool means_opencl = device == "auto" && (require_device || names_kernel(chain));
  if (means_opencl) return make_dispatcher("opencl", require_device, chain, options);
  const std::string vendors = device == "cpu" ? std::string() : gpu_vendors();
  FleetOptions fleet{options, {make_rate_store(), vendors}};
  // Catalogs now, because other threads will exist when a device is searched for.
  if (device == "all") {
    const auto find = [catalog = device_catalog()] { return gpus_of(catalog); };
    return std::make_unique<WholeFleet>(std::move(fleet), find, require_device);
  }
  if (device == "auto") {
    const DeviceCatalog catalog = vendors.empty() ? DeviceCatalog({}) : device_catalog();
    return std::make_unique<FastestFleet>(std::move(fleet), [options, catalog] {
      return engine_on("gpu", false, catalog, options, log::debug);
    });
  }
  return std::make_unique<SoleMember>(std::move(fleet),
                                      make_engine(device, require_device, options));
}

}  // namespace gpufilter
