#include "base/log.hpp"

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/signal_cleanup.hpp"
#include "base/terminal.hpp"

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

std::mutex status_mutex;  // guards what follows, and the terminal

std::string& status() {
  static auto* const text = new std::string;  // NOLINT: others may log while the process ends
  return *text;
}

// The cursor stays at the beginning of the line: where a narrower terminal has wrapped it since,
// erasing starts there and takes all of it away.
void draw_status() {
  // The last column stays free: some terminals begin a new line after it.
  const std::size_t columns = terminal_columns(STDERR_FILENO) - 1;
  const std::string line = std::string(erase_line) + fitted(status(), columns) + "\r";
  std::fputs((status().empty() ? std::string(erase_line) : line).c_str(), stderr);
  std::fflush(stderr);
  erase_line_on_signals(!status().empty());
}

void write(spdlog::level::level_enum level, std::string_view line) {
  if (!logger().should_log(level)) return;
  const std::lock_guard lock(status_mutex);
  if (!status().empty()) std::fputs(std::string(erase_line).c_str(), stderr);
  // Passed as an argument, never as the format: a picture's name may contain braces.
  logger().log(level, "{}", line);
  if (!status().empty()) draw_status();
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

void show_status(std::string_view text) {
  const std::lock_guard lock(status_mutex);
  if (text.empty() && status().empty()) return;
  status() = text;
  draw_status();
}

void debug(std::string_view line) {
  write(spdlog::level::debug, line);
}
void info(std::string_view line) {
  write(spdlog::level::info, line);
}
void warn(std::string_view line) {
  write(spdlog::level::warn, line);
}
void error(std::string_view line) {
  write(spdlog::level::err, line);
}
void warn_of_fallback(std::string_view line) {
  write(spdlog::level::err, line);
}

}  // namespace gpufilter::log
