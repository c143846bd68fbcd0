// The commands of one band on a device, to be timed when they are done.
#pragma once

#include <cstdint>
#include <vector>

#include "base/timeline.hpp"
#include "device/session.hpp"
#include "image/rows.hpp"

namespace gpufilter {

class BandCommands {
 public:
  // No rows: the commands belong to no band.
  BandCommands(const RowRange& band, Timeline& timeline) : band_(band), timeline_(timeline) {}

  void add(Event event, Activity activity, int pass, std::uint64_t bytes);
  // The kernels of one pass: its bytes are counted once, whatever they move among themselves.
  void add_kernels(std::vector<Event> events, int pass, std::uint64_t bytes);

  // Only after the queue has finished.
  void record();

 private:
  struct Command {
    Event event;
    Span span;
    Nanoseconds queued = 0;
  };

  void record_launch(Nanoseconds from, Nanoseconds to);

  RowRange band_;
  Timeline& timeline_;
  Nanoseconds begun_ = now();
  std::vector<Command> commands_;
};

}  // namespace gpufilter
