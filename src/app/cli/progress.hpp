// Shows the progress on standard error.
#pragma once

#include "app/cli/progress_text.hpp"
#include "app/filter/filter_options.hpp"

namespace gpufilter {

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
