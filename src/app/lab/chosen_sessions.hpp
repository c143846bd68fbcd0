// The stages and devices that `gpufilter verify` and `tune` work on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/arguments.hpp"
#include "device/session.hpp"

namespace gpufilter {

// --device for a command that works on every device unless one is chosen. With `has_processor` it
// may also be "cpu", the processor alone.
void add_devices_choice(Arguments& app, std::string& device, bool has_processor);

// STAGE...: the stages that such a command works on; `verb` says what it does with them.
void add_stage_names(Arguments& app, std::vector<std::string>& stages, const std::string& verb);

// --channels and --depth.
void add_formats_choice(Arguments& app, std::optional<int>& channels, std::optional<int>& depth);

// The devices for `request`, started: "all" (all that work; others are skipped with a warning),
// "cpu" (none), or a value that --device takes elsewhere. Throws DeviceError if a requested device
// does not exist or does not start.
[[nodiscard]] std::vector<std::shared_ptr<Session>> start_devices(const std::string& request);

}  // namespace gpufilter
