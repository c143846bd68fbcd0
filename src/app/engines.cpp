#include "app/engines.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "base/log.hpp"
#include "device/cache_folder.hpp"
#include "device/vendors.hpp"
#include "pipeline/fleet.hpp"

namespace gpufilter {
namespace {

RateStore make_store() {
  const auto folder = cache_folder();
  return folder ? RateStore(*folder / "rates.json") : RateStore();
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

// What `auto` means: OpenCL where that was asked for otherwise.
std::string meant_device(const FilterOptions& options) {
  const bool names_kernel = std::any_of(options.chain.begin(), options.chain.end(),
                                        [](const auto& stage) { return stage->names_kernel(); });
  if (options.device == "auto" && (names_kernel || options.require_device)) return "opencl";
  return options.device;
}

// Everything that a dispatcher refers to.
struct Lasting {
  RateStore store;
  std::unique_ptr<Engine> engine;  // where there is one for all pictures
  std::unique_ptr<Dispatcher> dispatcher;
};

std::unique_ptr<Dispatcher> make_dispatcher(Lasting& lasting, const FilterOptions& options) {
  EngineOptions engine = engine_options();
  engine.band_rows = options.band_rows;
  const std::string device = meant_device(options);
  if (device == "auto" || device == "all") {
    FleetOptions fleet{engine, &lasting.store, vendor_names()};
    if (device == "all") {
      return std::make_unique<WholeFleet>(std::move(fleet), find_gpus, options.require_device);
    }
    return std::make_unique<FastestFleet>(std::move(fleet),
                                          [engine] { return make_engine("gpu", false, engine); });
  }
  lasting.engine = make_engine(device, options.require_device, engine);
  return std::make_unique<SoleDispatcher>(*lasting.engine, lasting.store, vendor_names());
}

// Never destroyed: reachable for good, so no leak.
Dispatcher& lasting_dispatcher(const FilterOptions& options) {
  static auto* const lasting =  // NOLINT(cppcoreguidelines-owning-memory)
      new Lasting{make_store(), nullptr, nullptr};
  lasting->dispatcher = make_dispatcher(*lasting, options);
  return *lasting->dispatcher;
}

}  // namespace

EngineOptions engine_options() {
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

LastingDispatcher::LastingDispatcher(const FilterOptions& options)
    : dispatcher_(lasting_dispatcher(options)) {}

LastingDispatcher::~LastingDispatcher() {
  dispatcher_.await_starts();
}

}  // namespace gpufilter
