// Log lines on standard error, each beginning with "gpufilter: ". spdlog is known here alone.
#pragma once

#include <string_view>

namespace gpufilter::log {

enum class Level { debug, info, warn, error, off };

// Lines below `level` are dropped from now on. The level at start is warn.
void set_level(Level level);
[[nodiscard]] Level level();

void debug(std::string_view line);
void info(std::string_view line);
void warn(std::string_view line);
void error(std::string_view line);

}  // namespace gpufilter::log
