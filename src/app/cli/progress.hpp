// Shows the progress on standard error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "app/filter/filter_options.hpp"
#include "base/timeline.hpp"

namespace gpufilter {

// The progress of a folder, or of one picture.
struct Progress {
  std::string name = {};     // of the one picture; empty: a folder
  std::size_t pictures = 0;  // finished in any way
  std::size_t all_pictures = 0;
  // Bytes of the inputs, for unfinished pictures in proportion to their rows; or the rows of the
  // one picture.
  std::uint64_t done = 0;
  std::uint64_t all = 0;
  std::uint64_t worked = 0;  // of `done`, without pictures that were skipped or failed
  std::size_t filtered = 0;  // finished pictures that took work
  std::uint64_t filtered_pixels = 0;
  Nanoseconds elapsed = 0;
};

// "4.1 pictures/s", below one "2.5 s/picture".
[[nodiscard]] std::string picture_rate(std::size_t pictures, Nanoseconds elapsed);

// "7/20 pictures, 35 %, 0:04 left, 4.1 pictures/s, 81.2 Mpx/s" or "in.png, 35 %, 0:04 left"; only
// what is known.
[[nodiscard]] std::string progress_text(const Progress& progress);

// The progress with a bar, "7/20 pictures, 35 % [#######-------------] 0:04 left, 4.1 pictures/s",
// in at most `columns` columns: fields are left out from the right, then the bar gets shorter and
// goes; the beginning of a long name is left out.
[[nodiscard]] std::string progress_bar(const Progress& progress, std::size_t columns);

// On a terminal, a bar that is redrawn in the terminal's current width; otherwise a line each
// second. Automatic: only on a terminal, and only for work that has taken a second.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(ProgressMode mode);
  ~ProgressDisplay() { clear(); }
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  // May be called after every change.
  void show(const Progress& progress);
  // Removes the bar.
  void clear();

 private:
  bool terminal_;
  bool enabled_;
  Nanoseconds quiet_until_;  // nothing is shown before
  bool visible_ = false;
};

}  // namespace gpufilter
