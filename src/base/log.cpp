#include "base/log.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/printable.hpp"
#include "base/signal_cleanup.hpp"
#include "base/terminal.hpp"

namespace gpufilter::log {
namespace {

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

// Bold, so that it is readable on light and dark backgrounds.
// Lines of a terminal end at words.
std::string labelled(Level level, std::string_view line) {
  const std::string plain = level == Level::warn ? "gpufilter: warning: " : "gpufilter: ";
  const std::string whole = folded_for(STDERR_FILENO, plain + printable(line));
  if (!is_colored() || level < Level::warn || !whole.starts_with(plain)) return whole;
  return (level == Level::error ? "\033[1;31mgpufilter:\033[0m "
                                : "gpufilter: \033[1;35mwarning:\033[0m ") +
         whole.substr(plain.size());
}

// The meaning of a line for the reader, independent of the level at which it is shown.
Level meaning(spdlog::level::level_enum level) {
  return level == spdlog::level::debug  ? Level::debug
         : level == spdlog::level::info ? Level::info
         : level == spdlog::level::warn ? Level::warn
                                        : Level::error;
}

using Take = std::function<void(Level level, std::string_view line)>;

// Writes lines to standard error, above a status line, or passes them to a callback.
class LineSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void send_to(Take take) {
    const std::lock_guard lock(mutex_);
    take_ = std::move(take);
  }

  void show_status(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (text.empty() && status_.empty()) return;
    status_ = printable(text);
    draw_status();
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view line(message.payload.data(), message.payload.size());
    const Level level = meaning(message.level);
    if (take_) return take_(level, printable(line));
    const std::string whole =
        (status_.empty() ? "" : std::string(erase_line)) + labelled(level, line) + "\n";
    std::fwrite(whole.data(), 1, whole.size(), stderr);
    std::fflush(stderr);
    if (!status_.empty()) draw_status();
  }

  void flush_() override { std::fflush(stderr); }

  // The cursor stays at the beginning of the line. If the terminal gets narrower and wraps the
  // line, erasing starts there and removes all of it.
  void draw_status() {
    // The last column stays free: some terminals begin a new line after it.
    const std::size_t columns = terminal_columns(STDERR_FILENO) - 1;
    const std::string line = std::string(erase_line) + fitted(status_, columns) + "\r";
    std::fputs((status_.empty() ? std::string(erase_line) : line).c_str(), stderr);
    std::fflush(stderr);
    erase_line_on_signals(!status_.empty());
  }

  Take take_;
  std::string status_;
};

struct Loggers {
  std::shared_ptr<LineSink> sink = std::make_shared<LineSink>();
  spdlog::logger lines{"gpufilter", sink};
  spdlog::logger fallbacks{"gpufilter", sink};  // shown unless everything is off
};

Loggers& loggers() {
  static auto* const all = [] {
    auto* made = new Loggers;  // NOLINT: threads may still log at exit
    made->lines.set_level(spdlog::level::warn);
    return made;
  }();
  return *all;
}

void write(spdlog::level::level_enum level, std::string_view line) {
  loggers().lines.log(level, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace

// With Level::off, only critical messages are shown.
void set_level(Level level) {
  const int above_trace = static_cast<int>(level) + 1;
  loggers().lines.set_level(static_cast<spdlog::level::level_enum>(above_trace));
  loggers().fallbacks.set_level(level == Level::off ? spdlog::level::off : spdlog::level::warn);
}

Level level() {
  return static_cast<Level>(static_cast<int>(loggers().lines.level()) - 1);
}

void send_to(Take take) {
  loggers().sink->send_to(std::move(take));
}

void set_color(Color color) {
  chosen_color = color;
}

void show_status(std::string_view text) {
  loggers().sink->show_status(text);
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
  loggers().fallbacks.warn(spdlog::string_view_t(line.data(), line.size()));
}
void failure(std::string_view line) {
  write(spdlog::level::critical, line);
}

}  // namespace gpufilter::log
