// Lines for the user on standard error, each beginning with "gpufilter: ", and a status line below
// them. Characters that a terminal would act on are shown escaped, see printable(). spdlog is known
// here alone. Safe to use from several threads.
#pragma once

#include <string_view>

namespace gpufilter::log {

enum class Level { debug, info, warn, error, off };

// Lines below `level` are dropped from now on. The level at start is warn.
void set_level(Level level);
[[nodiscard]] Level level();

// Whether labels are coloured: those of errors red, those of warnings yellow. Automatic, as at the
// start: on a terminal, unless TERM is "dumb" or missing, or NO_COLOR is set (no-color.org).
enum class Color { automatic, always, never };
void set_color(Color color);

// A line at the terminal's bottom, which the next one replaces; log lines appear above it. What
// does not fit into the terminal's width is cut off. Empty: none.
void show_status(std::string_view text);

void debug(std::string_view line);
void info(std::string_view line);
void warn(std::string_view line);  // "gpufilter: warning: ..."
void error(std::string_view line);
// A warning that the level error does not hide: something else is used than what was asked for.
void warn_of_fallback(std::string_view line);
// Why the program ends: shown at every level.
void failure(std::string_view line);

}  // namespace gpufilter::log
