// How far a long piece of work is.
#pragma once

#include <string>

#include "app/filter_options.hpp"
#include "base/timeline.hpp"

namespace gpufilter {

// One line on standard error that is written over again and again. Automatic: only on a terminal,
// and only for work that has taken a second.
class ProgressLine {
 public:
  ProgressLine(ProgressMode mode, std::string name);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `done` of `all` rows are done.
  void show(std::int64_t done, std::int64_t all);
  // Takes the line away.
  void clear();

 private:
  std::string name_;
  bool enabled_;
  Nanoseconds quiet_until_;  // no line before
  bool visible_ = false;
};

}  // namespace gpufilter
