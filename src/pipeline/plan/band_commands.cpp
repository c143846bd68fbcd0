#include "pipeline/plan/band_commands.hpp"

#include <algorithm>
#include <utility>

namespace gpufilter {

void BandCommands::add(Event event, Activity activity, int pass, std::uint64_t bytes) {
  commands_.push_back({std::move(event),
                       {.activity = activity,
                        .pass = pass,
                        .bytes = bytes,
                        .first_row = band_.begin,
                        .rows = band_.count()},
                       0});
}

void BandCommands::add_kernels(std::vector<Event> events, int pass, std::uint64_t bytes) {
  for (Event& event : events) {
    add(std::move(event), Activity::kernel, pass, bytes);
    bytes = 0;
  }
}

void BandCommands::record() {
  const Nanoseconds ended = now();
  Nanoseconds first = ended;
  Nanoseconds last = begun_;
  for (Command& command : commands_) {
    const Event::Times times = command.event.times();
    command.queued = times.queued;
    command.span.start = times.start;
    command.span.duration = times.duration;
    first = std::min(first, times.start);
    last = std::max(last, times.start + times.duration);
  }
  // The offset between the clocks is only as exact as the host was woken in time. But the commands
  // ran after they were begun and before now.
  const Nanoseconds early = std::max<Nanoseconds>(begun_ - first, 0);
  const Nanoseconds shift = last > ended ? ended - last : early;
  Nanoseconds free = begun_;  // when the queue had finished the earlier commands
  for (Command& command : commands_) {
    command.span.start += shift;
    if (command.span.activity == Activity::kernel) {
      record_launch(std::max(free, command.queued + shift), command.span.start);
    }
    timeline_.add(command.span);
    free = command.span.start + command.span.duration;
  }
}

// The time before a kernel runs: short, unless the driver compiles it for this launch.
void BandCommands::record_launch(Nanoseconds from, Nanoseconds to) {
  if (to <= from) return;
  timeline_.add({.activity = Activity::launch, .start = from, .duration = to - from});
}

}  // namespace gpufilter
