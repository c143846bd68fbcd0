// The options that choose a device, for every command that has them.
#pragma once

#include <string>

#include "app/cli/arguments.hpp"

namespace gpufilter {

// What differs between commands.
struct DeviceHelp {
  std::string automatic;  // what auto means
  bool has_all = false;   // whether work can be spread over all devices
};

// --device and --require-device.
void add_device_choice(Arguments& app, std::string& device, bool& require_device,
                       const DeviceHelp& help);

}  // namespace gpufilter
