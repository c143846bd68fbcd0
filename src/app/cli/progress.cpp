#include "app/cli/progress.hpp"

#include <cstdio>

#include <unistd.h>

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/terminal.hpp"

namespace gpufilter {
namespace {

constexpr Nanoseconds second = 1'000'000'000;

}  // namespace

ProgressDisplay::ProgressDisplay(ProgressMode mode)
    : terminal_(is_terminal(STDERR_FILENO)),
      enabled_(mode == ProgressMode::on || (mode == ProgressMode::automatic && terminal_)),
      quiet_until_(now() + (mode == ProgressMode::on ? 0 : second)) {}

void ProgressDisplay::show(const Progress& progress) {
  if (!enabled_ || now() < quiet_until_) return;
  quiet_until_ = now() + (terminal_ ? second / 10 : second);
  if (terminal_) {
    visible_ = true;
    // The last column stays free, see log::show_status().
    log::show_status(progress_bar(progress, terminal_columns(STDERR_FILENO) - 1));
  } else {
    std::fputs(formatted("gpufilter: {}\n", progress_text(progress)).c_str(), stderr);
  }
}

void ProgressDisplay::clear() {
  if (!visible_) return;
  visible_ = false;
  log::show_status("");
}

}  // namespace gpufilter
