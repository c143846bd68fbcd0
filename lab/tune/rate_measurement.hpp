// Measures the rates that `auto` uses and `devices` shows, without files.
#pragma once

#include <memory>

#include "device/rate_store.hpp"
#include "device/session.hpp"
#include "pipeline/choose/machine_rates.hpp"
#include "stage/stage.hpp"

namespace gpufilter::lab {

// Measures the stage with such pixels, and transfers if there is a device; `rates` learn as from
// runs. `session` is nullptr for the processor.
void measure_stage(MachineRates& rates, Session* session, const std::shared_ptr<const Stage>& stage,
                   const PixelFormat& format);

// Measures the device's time per byte read or written while it copies a large buffer.
void measure_copy(RateStore& store, Session& session);

}  // namespace gpufilter::lab
