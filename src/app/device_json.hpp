// The device of a run, for machine-readable reports.
#pragma once

#include <nlohmann/json.hpp>

#include "pipeline/engine.hpp"

namespace gpufilter {

// "name", "kind", "platform", "driver", "reason" and "left_out".
[[nodiscard]] nlohmann::ordered_json device_json(const EngineReport& engine);

}  // namespace gpufilter
