// Counters for the histograms of a picture, in a device's memory: kernels/stage/counters.cl.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/device_partials.hpp"

namespace gpufilter {

// Whether kernels can count the quantity.
[[nodiscard]] bool is_counted(Quantity quantity);

// Bytes of local memory that a work-group counts in.
[[nodiscard]] std::uint64_t local_counter_bytes(const PixelFormat& format, Quantity quantity);

// The macros of counters.cl, apart from the number of channels.
[[nodiscard]] std::string counter_macros(Quantity quantity);

// Not for use by two threads, or with two queues, at a time.
class HistogramCounters {
 public:
  // For a quantity that is counted, of pictures in `format`, by launches of at most `groups`
  // work-groups. `counter_range`: see DevicePartials. `session` outlives this.
  HistogramCounters(Session& session, const PixelFormat& format, Quantity quantity,
                    std::size_t groups, std::uint64_t counter_range = UINT32_MAX);

  // To be called before work is queued that counts `pixels` pixels; returns its own commands.
  // Throws std::overflow_error if they are more than the range.
  [[nodiscard]] std::vector<Event> begin(Queue& queue, std::uint64_t pixels);

  // The arguments of a kernel that counts, in their order.
  [[nodiscard]] const Buffer& buffer() const { return partials_.buffer(); }
  [[nodiscard]] const std::int32_t& sets() const { return sets_; }

  // As DevicePartials::result().
  [[nodiscard]] const PictureStatistics& result(Queue& queue) { return partials_.result(queue); }

 private:
  std::int32_t sets_;  // copies of the counters: the more, the less work-groups wait for each other
  std::vector<std::uint8_t> zeros_;
  DevicePartials partials_;
};

}  // namespace gpufilter
