#include "app/chosen_sessions.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "device/device_choice.hpp"
#include "pipeline/make_dispatcher.hpp"

namespace gpufilter {
namespace {

std::vector<DeviceInfo> find_all() {
  DeviceCatalog catalog = device_catalog();
  while (!catalog.complete())
    catalog.find_more();
  return catalog.devices();
}

}  // namespace

void add_devices_choice(CLI::App& app, std::string& device) {
  app.add_option("--device", device,
                 "all (every OpenCL device), cpu (only the processor), gpu, opencl, an index or "
                 "part of a name from 'gpufilter devices'")
      ->envname("GPUFILTER_DEVICE")
      ->option_text("DEVICE [all]");
}

std::vector<std::shared_ptr<Session>> start_devices(const std::string& request) {
  if (request == "cpu") return {};
  const auto cache = default_engine_options().cache;
  std::vector<std::shared_ptr<Session>> sessions;
  if (request != "all" && request != "auto") {
    const auto chosen = choose_devices(request, true, find_all());
    sessions.push_back(std::make_shared<Session>(*chosen.front().device, cache));
    return sessions;
  }
  for (const DeviceInfo& device : find_all()) {
    try {
      sessions.push_back(std::make_shared<Session>(device, cache));
    } catch (const DeviceError& error) {
      log::warn(error.what());
    }
  }
  return sessions;
}

}  // namespace gpufilter
