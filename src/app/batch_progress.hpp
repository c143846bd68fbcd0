// How far a folder is.
#pragma once

#include <cstdint>
#include <string>

#include "app/filter_options.hpp"
#include "base/timeline.hpp"

namespace gpufilter {

struct BatchState {
  std::size_t pictures = 0;  // finished, in whatever way
  std::size_t all_pictures = 0;
  std::uint64_t bytes = 0;            // of the inputs that are finished
  std::uint64_t bytes_under_way = 0;  // of the others, in proportion to the rows done
  std::uint64_t all_bytes = 0;
  std::size_t filtered = 0;          // of the finished ones, those that took work
  std::uint64_t filtered_bytes = 0;  // of their inputs
  std::uint64_t filtered_pixels = 0;
  Nanoseconds elapsed = 0;
};

// "7/20 pictures, 35 %, 81.2 Mpx/s, 4.1 pictures/s, 0:04 left"; the rates and what is left where
// they are known.
[[nodiscard]] std::string progress_text(const BatchState& state);
// "[#######-------------] " and the text.
[[nodiscard]] std::string progress_bar(const BatchState& state);

// On a terminal a bar that is written over again and again, else a line every few seconds, all on
// standard error. Automatic: not for work that is done at once.
class BatchProgress {
 public:
  explicit BatchProgress(ProgressMode mode);
  ~BatchProgress() { clear(); }
  BatchProgress(const BatchProgress&) = delete;
  BatchProgress& operator=(const BatchProgress&) = delete;

  void show(const BatchState& state);
  // Takes the bar away, so that other lines can be written.
  void clear();

 private:
  bool enabled_;
  bool terminal_;
  Nanoseconds interval_;
  Nanoseconds quiet_until_;
  bool visible_ = false;
};

}  // namespace gpufilter
