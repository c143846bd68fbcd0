// The options that choose a device, for every command that has them.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace gpufilter {

// --device and --require-device. `more` stands in the help between the kinds of devices and the
// words about indices and names.
void add_device_choice(CLI::App& app, std::string& device, bool& require_device,
                       const std::string& more = "");

}  // namespace gpufilter
