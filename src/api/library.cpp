#include <mutex>
#include <utility>

#include <gpufilter/devices.hpp>
#include <gpufilter/log.hpp>
#include <gpufilter/version.hpp>

#include "api/call_options.hpp"
#include "api/library_words.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "device/device_choice.hpp"

namespace gpufilter {
namespace {

// Levels have the same order inside and outside.
static_assert(static_cast<int>(LogLevel::error) == static_cast<int>(log::Level::error));

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
  log::set_level(static_cast<log::Level>(minimum));
  log::send_to([callback = std::move(callback), minimum](log::Level level, std::string_view line) {
    const auto shown = static_cast<LogLevel>(level);
    if (shown < minimum) return;
    try {
      callback(shown, library_words(line));
    } catch (...) {
      // A failing log callback must not hide the event itself.
    }
  });
}

#define GPUFILTER_TEXT(number) GPUFILTER_QUOTED(number)
#define GPUFILTER_QUOTED(number) #number
static_assert(std::string_view(GPUFILTER_VERSION) ==
                  GPUFILTER_TEXT(GPUFILTER_VERSION_MAJOR) "." GPUFILTER_TEXT(
                      GPUFILTER_VERSION_MINOR) "." GPUFILTER_TEXT(GPUFILTER_VERSION_PATCH),
              "gpufilter/version.hpp has another version than the project");

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
