// Measures the rates by which `auto` decides and `devices` describes, without files.
#pragma once

#include <memory>
#include <string>

#include "device/rate_store.hpp"
#include "device/session.hpp"
#include "stages/stage.hpp"

namespace gpufilter {

// How long the stage takes for such pixels, and transfers where there is a device, as runs learn it
// (learn_from). `session` is nullptr for the processor.
void measure_stage(RateStore& store, const std::string& vendors, Session* session,
                   const std::shared_ptr<const Stage>& stage, const PixelFormat& format);

// How long the device takes for a byte that it reads or writes while it copies a large buffer.
void measure_copy(RateStore& store, Session& session);

}  // namespace gpufilter
