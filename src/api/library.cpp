#include "api/library.hpp"

#include <mutex>
#include <utility>

#include <gpufilter/devices.hpp>
#include <gpufilter/log.hpp>

#include "base/log.hpp"
#include "base/process.hpp"
#include "device/device_choice.hpp"

namespace gpufilter {
namespace {

LogLevel public_level(log::Level level) {
  switch (level) {
    case log::Level::debug:
      return LogLevel::debug;
    case log::Level::info:
      return LogLevel::info;
    case log::Level::warn:
      return LogLevel::warning;
    default:
      return LogLevel::error;
  }
}

log::Level internal_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return log::Level::debug;
    case LogLevel::info:
      return log::Level::info;
    case LogLevel::warning:
      return log::Level::warn;
    default:
      return log::Level::error;
  }
}

void drop(log::Level /*level*/, std::string_view /*line*/) {}

}  // namespace

void enter_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    become_guest();
    log::send_to(drop);
  });
}

void set_log(LogCallback callback, LogLevel minimum) {
  enter_library();
  if (!callback) return log::send_to(drop);
  log::set_level(internal_level(minimum));
  log::send_to([callback = std::move(callback), minimum](log::Level level, std::string_view line) {
    const LogLevel shown = public_level(level);
    if (shown < minimum) return;
    try {
      callback(shown, line);
    } catch (...) {
      // What was to be logged matters more than how it was shown.
    }
  });
}

const char* version() noexcept {
  return GPUFILTER_VERSION;
}

std::vector<Device> devices() {
  enter_library();
  std::vector<Device> all;
  DeviceCatalog catalog = device_catalog(PastAnswers::ignored);
  for (const DeviceInfo& found : catalog.find_all()) {
    all.push_back({.index = found.index,
                   .name = found.name,
                   .kind = to_string(found.kind),
                   .vendor = found.vendor,
                   .platform = found.platform,
                   .platform_version = found.platform_version,
                   .driver_version = found.driver_version,
                   .compute_units = found.compute_units,
                   .memory = found.global_memory,
                   .max_allocation = found.max_allocation,
                   .unified_memory = found.unified_memory,
                   .unusable = found.unusable});
  }
  return all;
}

}  // namespace gpufilter
