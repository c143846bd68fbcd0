// Measures the rates that `auto` uses and `devices` shows, without files.
#pragma once

#include <memory>
#include <string>

#include "device/rate_store.hpp"
#include "device/session.hpp"
#include "stages/stage.hpp"

namespace gpufilter::lab {

// Measures the stage with such pixels, and transfers if there is a device; the store learns as from
// runs (learn_from). `session` is nullptr for the processor.
void measure_stage(RateStore& store, const std::string& vendors, Session* session,
                   const std::shared_ptr<const Stage>& stage, const PixelFormat& format);

// Measures the device's time per byte read or written while it copies a large buffer.
void measure_copy(RateStore& store, Session& session);

}  // namespace gpufilter::lab
