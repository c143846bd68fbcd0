#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace gpufilter::log {
namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("gpufilter",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("gpufilter: %v");
    made->set_level(spdlog::level::warn);
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *instance;
}

}  // namespace

void set_level(Level level) {
  switch (level) {
    case Level::debug:
      return logger().set_level(spdlog::level::debug);
    case Level::info:
      return logger().set_level(spdlog::level::info);
    case Level::warn:
      return logger().set_level(spdlog::level::warn);
    case Level::error:
      return logger().set_level(spdlog::level::err);
    case Level::off:
      return logger().set_level(spdlog::level::off);
  }
}

Level level() {
  switch (logger().level()) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return Level::debug;
    case spdlog::level::info:
      return Level::info;
    case spdlog::level::warn:
      return Level::warn;
    case spdlog::level::off:
      return Level::off;
    default:
      return Level::error;
  }
}

// Passed as an argument, never as the format: a picture's name may contain braces.
void debug(std::string_view line) {
  logger().debug("{}", line);
}
void info(std::string_view line) {
  logger().info("{}", line);
}
void warn(std::string_view line) {
  logger().warn("{}", line);
}
void error(std::string_view line) {
  logger().error("{}", line);
}

}  // namespace gpufilter::log
