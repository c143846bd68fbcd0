#include "app/lab/chosen_sessions.hpp"

#include "app/cli/parse.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "device/device_choice.hpp"
#include "lab/stage_samples.hpp"
#include "pipeline/choose/dispatcher.hpp"

namespace gpufilter {
void add_devices_choice(Arguments& app, std::string& device, bool has_processor) {
  std::vector<std::string> words{"all", "gpu", "opencl"};
  if (has_processor) words.emplace_back("cpu");
  app.add_option("--device", device,
                 formatted("Which devices: all (every OpenCL device), {}gpu, opencl, an index or "
                           "part of a name from 'gpufilter devices'.",
                           has_processor ? "cpu (only the processor), " : ""))
      ->envname("GPUFILTER_DEVICE")
      ->option_text("DEVICE [all]")
      ->suggests({.words = words, .devices = true});
}

void add_stage_names(Arguments& app, std::vector<std::string>& stages, const std::string& verb) {
  app.add_option(
         "STAGE", stages,
         formatted("{} only these stages: {}.", verb, enumerated(lab::stage_names(), "and")))
      ->check(one_of(lab::stage_names()))
      ->option_text("...");
}

void add_formats_choice(Arguments& app, std::optional<int>& channels, std::optional<int>& depth) {
  app.add_option("--channels", channels, "Only pictures with this many channels.")
      ->check(whole_number(1, 4))
      ->option_text("1..4");
  app.add_option("--depth", depth, "Only pictures with this many bits per sample.")
      ->check(one_of({"8", "16"}))
      ->option_text("8|16");
}

std::vector<std::shared_ptr<Session>> start_devices(const std::string& request) {
  if (request == "cpu") return {};
  const EngineOptions options = default_engine_options();
  const std::vector<DeviceInfo> devices = device_catalog().find_all();
  std::vector<std::shared_ptr<Session>> sessions;
  if (request != "all" && request != "auto") {
    const auto chosen = choose_devices(request, true, devices, node_variables());
    sessions.push_back(start_session(*chosen.front().device, options));
    return sessions;
  }
  for (const DeviceInfo& device : devices) {
    try {
      sessions.push_back(start_session(device, options));
    } catch (const DeviceError& error) {
      log::warn(error.what());
    }
  }
  return sessions;
}

}  // namespace gpufilter
