#include "app/cli/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include <unistd.h>

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/terminal.hpp"
#include "base/timeline.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

// "0:07", "12:30", "1:02:03"
std::string clock_text(long long duration) {
  const long long hours = duration / 3600;
  const long long minutes = duration / 60 % 60;
  return hours > 0 ? formatted("{}:{:02}:{:02}", hours, minutes, duration % 60)
                   : formatted("{}:{:02}", minutes, duration % 60);
}

double share(const Progress& progress) {
  return progress.all == 0 ? 1
                           : static_cast<double>(progress.done) / static_cast<double>(progress.all);
}

// The part that is shown at any width; the name of a picture is cut to `name_columns`.
std::string head(const Progress& progress, std::size_t name_columns) {
  const std::string what =
      progress.name.empty()
          ? formatted("{}/{}", progress.pictures, counted(progress.all_pictures, "picture"))
          : fitted_at_end(printable(progress.name), name_columns);
  return formatted("{}, {} %", what, static_cast<int>(100 * share(progress)));
}

// The fields that may be left out, the most important first.
std::vector<std::string> details(const Progress& progress) {
  std::vector<std::string> fields;
  if (progress.worked == 0 || progress.elapsed <= 0) return fields;
  const double elapsed = seconds(progress.elapsed);
  const double left = elapsed * static_cast<double>(progress.all - progress.done) /
                      static_cast<double>(progress.worked);
  fields.push_back(clock_text(std::llround(left)) + " left");
  if (progress.filtered == 0) return fields;
  fields.push_back(picture_rate(progress.filtered, progress.elapsed));
  const double megapixels = static_cast<double>(progress.filtered_pixels) / 1e6 / elapsed;
  if (megapixels >= 0.05) fields.push_back(formatted("{:.1f} Mpx/s", megapixels));
  return fields;
}

std::string bar_text(double share, std::size_t cells) {
  const auto full = std::min(cells, static_cast<std::size_t>(share * static_cast<double>(cells)));
  return formatted("[{:-<{}}]", std::string(full, '#'), cells);
}

// The texts around a bar of at least `minimum_cells` cells; nothing if it does not fit. With 0,
// only the bar is left out if it does not fit.
std::optional<std::string> with_bar(const std::string& before, const std::string& after,
                                    double share, std::size_t columns, std::size_t minimum_cells) {
  constexpr std::size_t max_cells = 20;
  constexpr std::size_t readable_cells = 5;
  constexpr std::size_t brackets = 3;  // and the blank before them
  const std::string end = after.empty() ? "" : " " + after;
  const std::size_t taken = display_width(before) + display_width(end) + brackets;
  const std::size_t cells = std::min(columns - std::min(columns, taken), max_cells);
  if (cells >= std::max(minimum_cells, readable_cells)) {
    return before + " " + bar_text(share, cells) + end;
  }
  const std::string line = after.empty() ? before : before + "," + end;
  if (minimum_cells > 0 || display_width(line) > columns) return std::nullopt;
  return line;
}

constexpr Nanoseconds second = 1'000'000'000;

}  // namespace

std::string picture_rate(std::size_t pictures, Nanoseconds elapsed) {
  const double rate = static_cast<double>(pictures) / seconds(elapsed);
  return rate >= 1 ? formatted("{:.1f} pictures/s", rate) : formatted("{:.1f} s/picture", 1 / rate);
}

std::string progress_text(const Progress& progress) {
  std::string text = head(progress, std::string::npos);
  for (const std::string& field : details(progress))
    text += ", " + field;
  return text;
}

std::string progress_bar(const Progress& progress, std::size_t columns) {
  const std::string before = head(progress, std::max<std::size_t>(columns / 3, 8));
  const auto fields = details(progress);
  for (std::size_t count = fields.size();; --count) {
    const auto end = fields.begin() + static_cast<std::ptrdiff_t>(count);
    const std::string after = formatted("{}", fmt::join(fields.begin(), end, ", "));
    // The remaining time may shorten or replace the bar; rates are shown only beside a long enough
    // bar.
    const std::size_t minimum_cells = count > 1 ? 6 : 0;
    if (const auto line = with_bar(before, after, share(progress), columns, minimum_cells)) {
      return *line;
    }
    if (count == 0) return fitted(before, columns);
  }
}

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
