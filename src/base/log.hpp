// Log lines on standard error, each beginning with "gpufilter: ", and a status line below them.
// spdlog is known here alone. Safe to use from several threads.
#pragma once

#include <string_view>

namespace gpufilter::log {

enum class Level { debug, info, warn, error, off };

// Lines below `level` are dropped from now on. The level at start is warn.
void set_level(Level level);
[[nodiscard]] Level level();

// A line at the terminal's bottom, which the next one replaces; log lines appear above it. It has
// no line ends; what does not fit into the terminal's width is cut off. Empty: none.
void show_status(std::string_view text);

void debug(std::string_view line);
void info(std::string_view line);
void warn(std::string_view line);
void error(std::string_view line);
// A warning that the level error does not hide: something else is used than what was asked for.
void warn_of_fallback(std::string_view line);

}  // namespace gpufilter::log
