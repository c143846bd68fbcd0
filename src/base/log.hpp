// Messages to the user on standard error, each beginning with "gpufilter: ", and a status line
// below them. Control characters are escaped, see printable(). Only log.cpp uses spdlog.
// Thread-safe.
#pragma once

#include <functional>
#include <string_view>

namespace gpufilter::log {

enum class Level { debug, info, warn, error, off };

// Drops messages below `level` from now on. The initial level is warn.
void set_level(Level level);
[[nodiscard]] Level level();

// From now on `take` gets the lines instead of standard error, without labels, by one thread at a
// time; it must not log. Lines that set_level() drops do not reach it.
void send_to(std::function<void(Level level, std::string_view line)> take);

// Whether labels are coloured: red for errors, yellow for warnings. Automatic, the default: on a
// terminal, unless TERM is "dumb" or missing, or NO_COLOR is set (no-color.org).
enum class Color { automatic, always, never };
void set_color(Color color);

// Shows a status line at the bottom of the terminal, replacing the previous one; messages appear
// above it. The line is truncated to the terminal's width. An empty line removes it.
void show_status(std::string_view text);

void debug(std::string_view line);
void info(std::string_view line);
void warn(std::string_view line);  // "gpufilter: warning: ..."
void error(std::string_view line);
// A warning that the level error does not hide: something other than the requested is used.
void warn_of_fallback(std::string_view line);
// Why the program ends: shown at every level.
void failure(std::string_view line);

}  // namespace gpufilter::log
