// Log messages of the library, which never prints.
#pragma once

#include <functional>
#include <string_view>

namespace gpufilter {

// From unimportant to important. A warning says, for example, that the processor replaces a device.
enum class LogLevel { debug, info, warning, error };

// Takes a line without a line end. Its exceptions are dropped.
using LogCallback = std::function<void(LogLevel level, std::string_view line)>;

// From now on `callback` gets the lines of at least this level, of all filters and threads; by one
// thread at a time, and before the call that they are about returns. It must not call this
// function. Empty: lines are dropped, as they are at first. Thread-safe.
void set_log(LogCallback callback, LogLevel minimum = LogLevel::warning);

// "1.0.0", of the library that is running.
[[nodiscard]] const char* version() noexcept;

}  // namespace gpufilter
