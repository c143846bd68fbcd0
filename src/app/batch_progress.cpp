#include "app/batch_progress.hpp"

#include <cmath>
#include <cstdio>

#include <unistd.h>

#include "base/format.hpp"
#include "base/log.hpp"

namespace gpufilter {
namespace {

constexpr Nanoseconds second = 1'000'000'000;

double seconds(Nanoseconds duration) {
  return static_cast<double>(duration) / static_cast<double>(second);
}

// "0:07", "12:30", "1:02:03"
std::string clock_text(long long duration) {
  const long long hours = duration / 3600;
  const long long minutes = duration / 60 % 60;
  return hours > 0 ? formatted("{}:{:02}:{:02}", hours, minutes, duration % 60)
                   : formatted("{}:{:02}", minutes, duration % 60);
}

// By bytes: they tell a picture's work better than counting pictures does.
double share(const BatchState& state) {
  return state.all_bytes == 0 ? 1
                              : static_cast<double>(state.bytes + state.bytes_under_way) /
                                    static_cast<double>(state.all_bytes);
}

}  // namespace

std::string progress_text(const BatchState& state) {
  std::string text = formatted("{}/{} pictures, {} %", state.pictures, state.all_pictures,
                               static_cast<int>(100 * share(state)));
  const std::uint64_t worked = state.filtered_bytes + state.bytes_under_way;
  if (worked == 0 || state.elapsed <= 0) return text;
  const double elapsed = seconds(state.elapsed);
  if (state.filtered > 0) {
    text += formatted(", {:.1f} Mpx/s, {:.1f} pictures/s",
                      static_cast<double>(state.filtered_pixels) / 1e6 / elapsed,
                      static_cast<double>(state.filtered) / elapsed);
  }
  const std::uint64_t remaining = state.all_bytes - state.bytes - state.bytes_under_way;
  return text +
         formatted(", {} left", clock_text(std::llround(elapsed * static_cast<double>(remaining) /
                                                        static_cast<double>(worked))));
}

std::string progress_bar(const BatchState& state) {
  constexpr std::size_t width = 20;
  const auto full = static_cast<std::size_t>(share(state) * width);
  return "[" + std::string(full, '#') + std::string(width - full, '-') + "] " +
         progress_text(state);
}

BatchProgress::BatchProgress(ProgressMode mode)
    : enabled_(mode != ProgressMode::off),
      terminal_(::isatty(STDERR_FILENO) == 1),
      interval_(terminal_ ? second / 10 : (mode == ProgressMode::on ? 1 : 5) * second),
      quiet_until_(now() + (mode == ProgressMode::on ? 0
                            : terminal_              ? second
                                                     : interval_)) {}

void BatchProgress::show(const BatchState& state) {
  if (!enabled_ || now() < quiet_until_) return;
  quiet_until_ = now() + interval_;
  if (terminal_) {
    visible_ = true;
    log::show_status(progress_bar(state));
  } else {
    std::fputs(formatted("gpufilter: {}\n", progress_text(state)).c_str(), stderr);
  }
}

void BatchProgress::clear() {
  if (!visible_) return;
  visible_ = false;
  log::show_status("");
}

}  // namespace gpufilter
