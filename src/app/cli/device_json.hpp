// The device of a run, for machine-readable reports.
#pragma once

#include "base/json.hpp"
#include "pipeline/choose/engine.hpp"

namespace gpufilter {

// "name", "kind", "platform", "driver", "reason" and "left_out".
[[nodiscard]] Json device_json(const EngineReport& engine);

}  // namespace gpufilter
