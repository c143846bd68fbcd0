// Shows on standard error how far the work is.
#pragma once

#include "app/filter_options.hpp"
#include "app/progress_text.hpp"

namespace gpufilter {

// On a terminal a bar that is written over again and again, in the terminal's width at that moment;
// else a line each second. Automatic: only on a terminal, and only for work that has taken a
// second.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(ProgressMode mode);
  ~ProgressDisplay() { clear(); }
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  // May be called as often as anything has changed.
  void show(const Progress& progress);
  // Takes the bar away.
  void clear();

 private:
  bool terminal_;
  bool enabled_;
  Nanoseconds quiet_until_;  // nothing is shown before
  bool visible_ = false;
};

}  // namespace gpufilter
