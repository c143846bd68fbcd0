#include "pipeline/choose/make_dispatcher.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "device/cache_folder.hpp"
#include "device/pocl_environment.hpp"
#include "device/vendors.hpp"
#include "host/instruction_set.hpp"

namespace gpufilter {
namespace {

// Looks for `device`, which is not cpu, in `catalog`; calls `warn` if there is none.
std::shared_ptr<Engine> engine_on(const std::string& device, bool require_device,
                                  const DeviceCatalog& catalog, const EngineOptions& options,
                                  void (*warn)(std::string_view line)) {
  auto candidates = device_candidates(device, require_device, catalog, node_variables());
  const auto warned = [candidates, warn](std::size_t place) mutable {
    auto candidate = candidates(place);
    if (place == 0 && !candidate->device) {
      warn(formatted("{} (see 'gpufilter devices'); the processor does the work",
                     candidate->reason));
    }
    return candidate;
  };
  return std::make_shared<Engine>(DeviceCandidates(warned), options);
}

// For --device all.
Engines engines_on_gpus(DeviceCatalog catalog, bool require_device, const EngineOptions& options) {
  Engines engines;
  for (const DeviceInfo& device : catalog.find_all()) {
    if (!device.unusable.empty() && device.platform != pocl_platform)
      log::warn_of_fallback(formatted("{}: {}", device.name, device.unusable));
    if (device.kind != DeviceKind::gpu) continue;
    std::vector<DeviceCandidate> candidates{{device, "one of all devices"},
                                            processor("the GPU failed")};
    engines.push_back(std::make_shared<Engine>(std::move(candidates), options));
  }
  if (!engines.empty()) return engines;
  const std::string reason = "--device all: no GPU found";
  if (require_device) throw DeviceError(reason);
  log::warn_of_fallback(reason + "; the processor does the work");
  return engines;
}

bool names_kernel(const StageChain& chain) {
  return std::any_of(chain.begin(), chain.end(),
                     [](const auto& stage) { return stage->traits().names_kernel; });
}

}  // namespace

std::shared_ptr<RateStore> make_rate_store() {
  return std::make_shared<RateStore>(cache_path("rates.json"));
}

std::shared_ptr<TuningStore> make_tuning_store() {
  return std::make_shared<TuningStore>(cache_path("tuning.json"));
}

std::string gpu_vendors() {
  return formatted("{}", fmt::join(installed_vendors().libraries, ", "));
}

EngineOptions default_engine_options() {
  EngineOptions options;
  if (const auto programs = cache_path("programs")) options.cache = ProgramCache(*programs);
  options.tuning = make_tuning_store();
  return options;
}

std::shared_ptr<Engine> make_engine(const std::string& device, bool require_device,
                                    const EngineOptions& options) {
  if (device == "cpu")
    return std::make_shared<Engine>(choose_devices(device, require_device, {}), options);
  return engine_on(device, require_device, device_catalog(), options, log::warn_of_fallback);
}

std::unique_ptr<Dispatcher> make_dispatcher(const std::string& device, bool require_device,
                                            const StageChain& chain, const EngineOptions& options) {
  // A name of a set that this machine does not have is reported before any picture is touched.
  static_cast<void>(instruction_set());
  const bool means_opencl = device == "auto" && (require_device || names_kernel(chain));
  if (means_opencl) return make_dispatcher("opencl", require_device, chain, options);
  const MachineRates rates(make_rate_store(), device == "cpu" ? "" : gpu_vendors());
  if (device != "auto" && device != "all") {
    const Engines named{make_engine(device, require_device, options)};
    return std::make_unique<Dispatcher>(named, rates);
  }
  const Engines processors{
      std::make_shared<Engine>(std::vector{processor("the processor")}, options)};
  // Now, because other threads will exist when a device is searched for.
  const DeviceCatalog catalog =
      device == "auto" && gpu_vendors().empty() ? DeviceCatalog({}) : device_catalog();
  const auto best = [=] { return Engines{engine_on("gpu", false, catalog, options, log::debug)}; };
  const auto all = [=] { return engines_on_gpus(catalog, require_device, options); };
  const GpuSearch search = device == "all" ? GpuSearch{all, true} : GpuSearch{best, false};
  return std::make_unique<Dispatcher>(processors, rates, search);
}

}  // namespace gpufilter
