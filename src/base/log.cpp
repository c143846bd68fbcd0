#include "base/log.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/printable.hpp"
#include "base/signal_cleanup.hpp"
#include "base/terminal.hpp"

namespace gpufilter::log {
namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("gpufilter",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->set_level(spdlog::level::warn);
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *instance;
}

std::atomic<Color> chosen_color{Color::automatic};

bool is_colored() {
  static const bool by_itself = [] {
    const char* refused = std::getenv("NO_COLOR");
    if (refused != nullptr && *refused != '\0') return false;
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && terminal != nullptr && *terminal != '\0' &&
           std::string_view(terminal) != "dumb";
  }();
  const Color color = chosen_color;
  return color == Color::automatic ? by_itself : color == Color::always;
}

std::mutex status_mutex;  // guards the status line, and the terminal

std::string& status() {
  static auto* const text = new std::string;  // NOLINT: threads may still log at exit
  return *text;
}

// The cursor stays at the beginning of the line. If the terminal gets narrower and wraps the line,
// erasing starts there and removes all of it.
void draw_status() {
  // The last column stays free: some terminals begin a new line after it.
  const std::size_t columns = terminal_columns(STDERR_FILENO) - 1;
  const std::string line = std::string(erase_line) + fitted(status(), columns) + "\r";
  std::fputs((status().empty() ? std::string(erase_line) : line).c_str(), stderr);
  std::fflush(stderr);
  erase_line_on_signals(!status().empty());
}

enum class Label { none, warning, error };

// Bold, so that it is readable on light and dark backgrounds.
// Lines of a terminal end at words.
std::string labelled(Label label, std::string_view line) {
  const std::string plain = label == Label::warning ? "gpufilter: warning: " : "gpufilter: ";
  const std::string whole = folded_for(STDERR_FILENO, plain + printable(line));
  if (!is_colored() || label == Label::none || !whole.starts_with(plain)) return whole;
  return (label == Label::error ? "\033[1;31mgpufilter:\033[0m "
                                : "gpufilter: \033[1;35mwarning:\033[0m ") +
         whole.substr(plain.size());
}

using Take = std::function<void(Level level, std::string_view line)>;

// Guarded by status_mutex.
Take& taker() {
  static auto* const take = new Take;  // NOLINT: threads may still log at exit
  return *take;
}

// What a line is to its reader, whatever level it needs to be shown.
Level meaning(spdlog::level::level_enum level, Label label) {
  if (label == Label::warning) return Level::warn;
  if (label == Label::error) return Level::error;
  return level == spdlog::level::debug ? Level::debug : Level::info;
}

void write(spdlog::level::level_enum level, Label label, std::string_view line) {
  if (!logger().should_log(level)) return;
  const std::lock_guard lock(status_mutex);
  if (taker()) return taker()(meaning(level, label), printable(line));
  if (!status().empty()) std::fputs(std::string(erase_line).c_str(), stderr);
  // Passed as an argument, never as the format: a picture's name may contain braces.
  logger().log(level, "{}", labelled(label, line));
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
      return logger().set_level(spdlog::level::critical);
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
    case spdlog::level::err:
      return Level::error;
    default:
      return Level::off;
  }
}

void send_to(Take take) {
  const std::lock_guard lock(status_mutex);
  taker() = std::move(take);
}

void set_color(Color color) {
  chosen_color = color;
}

void show_status(std::string_view text) {
  const std::lock_guard lock(status_mutex);
  if (text.empty() && status().empty()) return;
  status() = printable(text);
  draw_status();
}

void debug(std::string_view line) {
  write(spdlog::level::debug, Label::none, line);
}
void info(std::string_view line) {
  write(spdlog::level::info, Label::none, line);
}
void warn(std::string_view line) {
  write(spdlog::level::warn, Label::warning, line);
}
void error(std::string_view line) {
  write(spdlog::level::err, Label::error, line);
}
void warn_of_fallback(std::string_view line) {
  write(spdlog::level::err, Label::warning, line);
}
void failure(std::string_view line) {
  write(spdlog::level::critical, Label::error, line);
}

}  // namespace gpufilter::log
